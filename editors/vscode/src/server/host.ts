// What the server is started with in this window: where it is, the user's settings and keys, the workspace's trust.

import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { homedir } from "node:os";
import * as path from "node:path";
import { type ExtensionContext, extensions, type Uri, workspace } from "vscode";
import type { Middleware } from "vscode-languageclient/node";
import type { EventRecord } from "../protocol";
import type { Keys } from "../secrets";
import { serverSettings, userSetting } from "../settings";
import { type Finding, findServer } from "./finding";
import type { Answers } from "./launch";
import { type Running, ServerProblem, SHOW_LOG } from "./life";
import type { RedactedLog } from "./redaction";

const PYTHON_EXTENSION = "ms-python.python";
const CHOOSE = { title: "Choose…", command: "odin.vscode.chooseServer" };
export const INSTALL = { title: "Install", command: "odin.vscode.install" };
const HELP = { title: "Help", command: "odin.vscode.help" };

export class ServerHost {
  constructor(
    private readonly context: ExtensionContext,
    private readonly log: RedactedLog,
    private readonly keys: Keys,
    private readonly answers: Answers,
    private readonly middleware: Middleware,
  ) {}

  /** The folder of the environment that the extension installs the server into. */
  get environment(): string {
    return path.join(this.context.globalStorageUri.fsPath, "environment");
  }

  async launch(onEvent: (record: EventRecord) => void): Promise<Running> {
    const command = await this.command();
    const configuration = workspace.getConfiguration("odin");
    const secrets = await this.keys.all();
    const { launch } = await import("./launch");
    return launch({
      command,
      parameters: userSetting<string[]>(configuration, "server.arguments", []),
      folder: await firstFolder(),
      init: { settings: serverSettings(configuration), secrets, trusted: workspace.isTrusted },
      reviews: userSetting<string>(configuration, "review.surface", "diff") !== "refactorPreview",
      log: this.log,
      clean: (text) => this.log.clean(text),
      answers: this.answers,
      middleware: this.middleware,
      onEvent,
    });
  }

  /** The server's program. Rejects with what to do about it if there is none. */
  async command(): Promise<string> {
    const found = await this.find();
    switch (found.kind) {
      case "found":
        this.log.info(`The server is ${found.command} (${found.origin}).`);
        return found.command;
      case "misconfigured":
        throw new ServerProblem(found.why, [CHOOSE, HELP, SHOW_LOG]);
      case "missing":
        throw new ServerProblem("Odin's server, odin-lsp, is not installed.", [INSTALL, CHOOSE, HELP]);
    }
  }

  /** The interpreter of the workspace's environment, which is not run before the workspace is trusted. */
  async selectedPython(): Promise<string | undefined> {
    return workspace.isTrusted ? selectedPython() : undefined;
  }

  private find(): Promise<Finding> {
    return findServer({
      configured: userSetting(workspace.getConfiguration("odin"), "server.path", ""),
      home: homedir(),
      selectedPython: () => this.selectedPython(),
      ownEnvironment: this.environment,
      searchPath: process.env.PATH ?? "",
      isWindows: process.platform === "win32",
      isExecutable,
    });
  }
}

async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}

async function firstFolder(): Promise<string | undefined> {
  const folder = workspace.workspaceFolders?.find((it) => it.uri.scheme === "file")?.uri.fsPath;
  const found = folder ? await stat(folder).catch(() => undefined) : undefined;
  return found?.isDirectory() ? folder : undefined;
}

/** As far as it is used here: https://github.com/microsoft/vscode-python/wiki/Python-Environment-APIs */
interface PythonApi {
  environments: {
    getActiveEnvironmentPath(resource?: Uri): { path: string };
    resolveEnvironment(environment: { path: string }): Promise<{ executable: { uri?: Uri } } | undefined>;
  };
}

async function selectedPython(): Promise<string | undefined> {
  const extension = extensions.getExtension<PythonApi>(PYTHON_EXTENSION);
  if (!extension) {
    return undefined;
  }
  try {
    const { environments } = await extension.activate();
    const selected = environments.getActiveEnvironmentPath(workspace.workspaceFolders?.[0]?.uri);
    return (await environments.resolveEnvironment(selected))?.executable.uri?.fsPath;
  } catch {
    return undefined; // another extension's trouble
  }
}
