// Commands with a slash: what the user may mean, and what VS Code has a dialog for.

import type { SlashCommand } from "../protocol";
import { best } from "./matching";
import type { Completion } from "./messages";

const MAX_SHOWN = 12;
/** What changes the session itself is done by the extension, whatever follows the name. */
const OF_SESSIONS = new Map([
  ["clear", "odin.vscode.clear"],
  ["continue", "odin.vscode.continue"],
  ["new", "odin.vscode.newSession"],
  ["resume", "odin.vscode.resumeSession"],
]);
/** What there is a dialog for, if nothing follows the name. */
const DIALOGS = new Map([
  ["context", "odin.vscode.showContext"],
  ["export", "odin.vscode.exportSession"],
  ["extensions", "odin.vscode.showExtensions"],
  ["model", "odin.vscode.selectModel"],
  ["permissions", "odin.vscode.manageApprovals"],
  ["role", "odin.vscode.selectRole"],
  ["trust", "odin.vscode.trust"],
]);

/** The command of the extension that does what the message asks for; nothing if the server does it. */
export function ownCommand(text: string): string | undefined {
  const { name = "", more = "" } = text.match(/^\/(?<name>[a-z]+)(?<more>\s.*)?$/s)?.groups ?? {};
  return OF_SESSIONS.get(name) ?? (more.trim() ? undefined : DIALOGS.get(name));
}

/** What the word after the slash may become. */
export function slashCompletions(commands: readonly SlashCommand[], word: string): Completion[] {
  const found = word === "" ? commands : best(commands, word, (it) => it.name, MAX_SHOWN);
  return found.map(({ name, hint, description }) => ({
    word: name,
    detail: [hint, description].filter(Boolean).join(" · "),
    icon: "command",
  }));
}
