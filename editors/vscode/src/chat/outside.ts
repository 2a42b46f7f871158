// What the chat does elsewhere in VS Code.

import { Uri, window, workspace } from "vscode";
import { t, tn } from "../l10n";
import type { TurnHead } from "../session/state";
import { askUser } from "../telling";

/** At the cursor, or into a document of its own if no editor is open. */
export async function insert(text: string): Promise<void> {
  const editor = window.activeTextEditor ?? window.visibleTextEditors[0];
  if (editor) await editor.edit((edit) => edit.replace(editor.selection, text));
  else await window.showTextDocument(await workspace.openTextDocument({ content: text }));
}

/** Whether it runs is left to the user's Enter. */
export function intoTerminal(command: string): void {
  const terminal = window.activeTerminal ?? window.createTerminal();
  terminal.show();
  terminal.sendText(command, false);
}

/** Which of these turns are to be undone; `undefined` if the user would rather leave all as it is. */
export async function chooseUndone(changed: TurnHead[]): Promise<TurnHead[] | undefined> {
  const undo = tn(changed.length, "Undo the Changes of {0} Turn", "Undo the Changes of {0} Turns");
  const keep = t("Keep the Files");
  const names = changed.flatMap((it) => it.changed).map((it) => workspace.asRelativePath(Uri.parse(it)));
  const detail = t("Odin has changed since:\n{0}", [...new Set(names)].sort().join("\n"));
  const question = t("Also undo the changes since this message?");
  const chosen = await askUser(question, { detail }, undo, keep);
  if (chosen === undo) return changed;
  return chosen === keep ? [] : undefined;
}
