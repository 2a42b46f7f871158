// The user's settings for the server. What a workspace's own settings.json says does not count: for that there is
// odinconfig.json, of which the server takes no more than the user's trust allows.

import * as path from "node:path";
import type { WorkspaceConfiguration } from "vscode";

export const SETTINGS_FILE = "odinconfig.json";

/** Those that the server takes, by their names in `odinconfig.json`. */
export const SERVER_SETTINGS = [
  "model",
  "smallModel",
  "fallbackModels",
  "subagentModel",
  "memory",
  "titles",
  "provenance",
  "commentRequests",
  "sandbox",
  "allowedCommands",
  "forbiddenCommands",
  "limits.maxTurns",
  "limits.maxBudgetUsd",
  "limits.maxContext",
  "limits.maxTokens",
  "review.policy",
  "review.save",
  "network.proxy",
  "network.caBundle",
] as const;

/** Those that count only when the server is started. */
export const RESTARTING_SETTINGS = ["odin.server.path", "odin.server.arguments", "odin.review.surface"] as const;

type Inspected = Pick<WorkspaceConfiguration, "inspect">;

/** What the user has set, nested as in `odinconfig.json`. Defaults are left out: they are the server's own. */
export function serverSettings(configuration: Inspected): Record<string, unknown> {
  const settings: Record<string, unknown> = {};
  for (const name of SERVER_SETTINGS) {
    const value = configuration.inspect(name)?.globalValue;
    if (value !== undefined && value !== null && value !== "") {
      place(settings, name.split("."), value);
    }
  }
  return settings;
}

/** The user's own value of a setting, or `fallback`. */
export function userSetting<T>(configuration: Inspected, name: string, fallback: T): T {
  return configuration.inspect<T>(name)?.globalValue ?? fallback;
}

/** Where the server looks for the user's settings. */
export function userFile(platform: NodeJS.Platform, environment: NodeJS.ProcessEnv, home: string): string {
  const folders: Partial<Record<NodeJS.Platform, string>> = {
    darwin: path.join(home, "Library", "Application Support"),
    win32: environment.LOCALAPPDATA || path.join(home, "AppData", "Local"),
  };
  const folder = folders[platform] ?? (environment.XDG_CONFIG_HOME || path.join(home, ".config"));
  return path.join(folder, "odin", SETTINGS_FILE);
}

function place(into: Record<string, unknown>, names: readonly string[], value: unknown): void {
  const [first = "", ...rest] = names;
  if (rest.length === 0) {
    into[first] = value;
    return;
  }
  into[first] ??= {};
  place(into[first] as Record<string, unknown>, rest, value);
}
