// What the chat does elsewhere in VS Code.

import { Uri, window, workspace } from "vscode";
import type { TurnHead } from "../session/state";
import { counted } from "../words";

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
  const undo = `Undo the Changes of ${counted(changed.length, "Turn")}`;
  const keep = "Keep the Files";
  const names = changed.flatMap((it) => it.changed).map((it) => workspace.asRelativePath(Uri.parse(it)));
  const detail = `Odin has changed since:\n${[...new Set(names)].sort().join("\n")}`;
  const question = "Undo the changes since this message, too?";
  const chosen = await window.showWarningMessage(question, { modal: true, detail }, undo, keep);
  if (chosen === undo) return changed;
  return chosen === keep ? [] : undefined;
}
