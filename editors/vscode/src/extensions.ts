// What is plugged in: a line for each, with what it does and why it is not used.

import { t, tn } from "./l10n";
import type { Listed } from "./protocol";

export interface ExtensionItem {
  label: string;
  description: string;
  detail: string;
  source: string;
  name: string;
  /** What a choice of it does; nothing for what cannot be switched. */
  action?: "enable" | "disable";
}

function stateName(state: Listed["state"]): string {
  return {
    on: t("on"),
    off: t("off"),
    untrusted: t("not used: you have not agreed to it"),
    hidden: t("not used: another one has this name"),
    broken: t("broken"),
  }[state];
}

/** How an MCP server is, with its attempts to start if it was not the first. */
function runningOf({ running, attempt = 1, maxAttempts = 1 }: Listed): string | undefined {
  const isAgain = running !== "ready" && attempt > 1;
  return isAgain ? t("{0}, attempt {1} of {2}", running ?? "", attempt, maxAttempts) : running;
}

export function extensionItems(listed: readonly Listed[]): ExtensionItem[] {
  return listed.map((it) => {
    const running = it.state === "on" ? runningOf(it) : "";
    const cost = it.tokens ? tn(it.tokens, "{0} token", "{0} tokens") : "";
    const action = it.state === "on" ? "disable" : it.state === "off" ? "enable" : undefined;
    return {
      label: `${it.kind} ${it.name}`,
      description: [stateName(it.state), running, cost].filter(Boolean).join(", "),
      detail: [it.problem ?? it.description, it.source].filter(Boolean).join(" · "),
      source: it.source,
      name: `${it.kind}:${it.name}`,
      ...(action ? { action } : {}),
    };
  });
}
