// What is plugged in: a line for each, with what it does and why it is not used.

import type { Listed } from "./protocol";

interface ExtensionItem {
  label: string;
  description: string;
  detail: string;
  source: string;
  name: string;
  /** What a choice of it does; nothing for what cannot be switched. */
  action?: "enable" | "disable";
}

const STATES: Record<Listed["state"], string> = {
  on: "on",
  off: "off",
  untrusted: "not used: this folder is not trusted",
  hidden: "not used: another one has this name",
  broken: "broken",
};

export function extensionItems(listed: readonly Listed[]): ExtensionItem[] {
  return listed.map((it) => {
    const running = it.state === "on" && it.running ? `, ${it.running}` : "";
    const cost = it.tokens ? `, ${it.tokens} tokens` : "";
    const action = it.state === "on" ? "disable" : it.state === "off" ? "enable" : undefined;
    return {
      label: `${it.kind} ${it.name}`,
      description: `${STATES[it.state]}${running}${cost}`,
      detail: [it.problem ?? it.description, it.source].filter(Boolean).join(" · "),
      source: it.source,
      name: `${it.kind}:${it.name}`,
      ...(action ? { action } : {}),
    };
  });
}
