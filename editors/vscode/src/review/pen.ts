// What a review does to the editor's documents.

import { Position, Range, type TextDocument, WorkspaceEdit, window, workspace } from "vscode";
import { t } from "../l10n";
import { tellUser } from "../telling";
import type { ProposedTexts } from "./proposed-texts";
import type { Pen } from "./side";
import { type Change, placeAt } from "./texts";

export function penFor(texts: ProposedTexts): Pen {
  return {
    edit: (document, text, change) => edited(document, text, change),
    reload: (document) => texts.reload(document.uri),
  };
}

async function edited(document: TextDocument, text: string, change: Change): Promise<boolean> {
  const edit = new WorkspaceEdit();
  const [start, end] = [placeAt(text, change.start), placeAt(text, change.end)];
  const range = new Range(new Position(start.line, start.character), new Position(end.line, end.character));
  edit.replace(document.uri, range, change.text);
  return workspace.applyEdit(edit);
}

/** Offer what the user wrote into a review that can no longer be decided. */
export async function offerWords(why: string, words: readonly string[], language?: string): Promise<void> {
  if (words.length === 0) {
    return;
  }
  const open = t("Open What I Wrote");
  if ((await tellUser("warning", why, open)) === open) {
    await window.showTextDocument(await workspace.openTextDocument({ content: words.join("\n"), language }));
  }
}
