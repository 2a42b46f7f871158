// What is shown at the place of an inline edit.

import { t, tn } from "../l10n";
import type { ReviewHunk } from "../protocol";
import type { InlineEdit } from "./edit";

const MAX_LINES = 40;
const MAX_CHANGES = 5;

/** Words as they are, or code. */
export type Piece = { words: string } | { code: string };

export function piecesOf({ phase, pending, writing, doing, outcome }: InlineEdit): Piece[] {
  if (phase === "deciding") return proposed(pending);
  if (phase === "over")
    return [{ words: outcome?.detail || outcome?.answer || t("The turn ended without a change. See the chat.") }];
  const latest = writing.at(-1);
  return latest ? [{ code: cut(latest.text, -MAX_LINES) }] : [{ words: doing }];
}

function proposed(hunks: readonly ReviewHunk[]): Piece[] {
  const shown = hunks.slice(0, MAX_CHANGES).flatMap((it) => changeOf(it, hunks.length > 1));
  const left = hunks.length - MAX_CHANGES;
  return left > 0 ? [...shown, { words: tn(left, "{0} more change below.", "{0} more changes below.") }] : shown;
}

function changeOf({ range, oldText, newText }: ReviewHunk, isOneOfSeveral: boolean): Piece[] {
  const line = range.start.line + 1;
  if (newText === "") {
    const count = linesOf(oldText).length;
    return [{ words: tn(count, "Deletes {0} line at line {1}.", "Deletes {0} lines at line {1}.", line) }];
  }
  return [...(isOneOfSeveral ? [{ words: t("Line {0}:", line) }] : []), { code: cut(newText, MAX_LINES) }];
}

/** As many lines of it at most: from its beginning, or from its end if it still grows there. */
function cut(text: string, most: number): string {
  const lines = linesOf(text);
  if (lines.length <= Math.abs(most)) return lines.join("\n");
  return (most > 0 ? [...lines.slice(0, most), "…"] : ["…", ...lines.slice(most)]).join("\n");
}

function linesOf(text: string): string[] {
  return text.replace(/\r?\n$/, "").split(/\r?\n/);
}
