// Which change the cursor is at, on either side of a diff.

import type { TextEditor } from "vscode";
import type { ShownFiles } from "./files";
import type { Stretch } from "./layout";
import type { Chosen } from "./shown";

export function changesAtCursor(files: ShownFiles, editor: TextEditor): Chosen[] {
  const { line } = editor.selection.active;
  return files.all.filter((it) => {
    const lines = linesIn(files, it, editor);
    return lines !== undefined && lines[0] <= line && line <= lines[1];
  });
}

/** The first and last line of a change in an editor, if it shows its file on either side. */
export function linesIn(files: ShownFiles, { shown, hunk }: Chosen, editor: TextEditor): Stretch | undefined {
  const { uri } = editor.document;
  const isProposed = files.proposedAs(uri) === shown;
  if (!isProposed && !files.reviewsOf(uri).includes(shown)) {
    return undefined;
  }
  const lines = shown.texts.layout.of(hunk.id);
  return isProposed ? lines?.proposed : lines?.real;
}
