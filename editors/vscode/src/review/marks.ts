// Where a file would change, marked lightly in its own editor, and in diffs what is decided.

import { type DecorationOptions, OverviewRulerLane, Range, type TextEditor, ThemeColor, window } from "vscode";
import { isDecided, pendingIn } from "../session/reviews";
import { markdownOf } from "../telling";
import type { ShownFiles } from "./files";
import type { Stretch } from "./layout";

const MOST_IN_HOVER = 2000;
const NOTHING = JSON.stringify({ waiting: [], decided: [] });

interface Mark {
  lines: Stretch;
  reason: string;
  text: string;
}

export class ReviewMarks {
  readonly #waiting = window.createTextEditorDecorationType({
    isWholeLine: true,
    borderStyle: "solid",
    borderWidth: "0 0 0 2px",
    borderColor: new ThemeColor("editorGutter.modifiedBackground"),
    overviewRulerColor: new ThemeColor("editorOverviewRuler.modifiedForeground"),
    overviewRulerLane: OverviewRulerLane.Left,
  });
  readonly #decided = window.createTextEditorDecorationType({
    isWholeLine: true,
    borderStyle: "dotted",
    borderWidth: "0 0 0 2px",
    borderColor: new ThemeColor("disabledForeground"),
  });
  /** What stands in each editor. It moves along with what is typed there. */
  readonly #drawn = new WeakMap<TextEditor, string>();

  constructor(private readonly files: ShownFiles) {}

  draw(): void {
    for (const editor of window.visibleTextEditors) {
      const marks = { waiting: this.#waitingIn(editor), decided: this.#decidedIn(editor) };
      const wanted = JSON.stringify(marks);
      if (wanted !== (this.#drawn.get(editor) ?? NOTHING)) {
        this.#drawn.set(editor, wanted);
        const { languageId } = editor.document;
        editor.setDecorations(
          this.#waiting,
          marks.waiting.map((it) => decoration(it, languageId)),
        );
        editor.setDecorations(
          this.#decided,
          marks.decided.map(([first, last]) => new Range(first, 0, last, 0)),
        );
      }
    }
  }

  dispose(): void {
    this.#waiting.dispose();
    this.#decided.dispose();
  }

  #waitingIn(editor: TextEditor): Mark[] {
    // The sides of a diff have no column of their own.
    const files = editor.viewColumn === undefined ? [] : this.files.reviewsOf(editor.document.uri);
    return files.flatMap(({ file, texts }) =>
      pendingIn(file).flatMap(({ id, reason, newText }) => {
        const lines = texts.layout.of(id)?.real;
        return lines ? [{ lines, reason, text: newText }] : [];
      }),
    );
  }

  /** On the right of a diff. */
  #decidedIn(editor: TextEditor): Stretch[] {
    const shown = this.files.proposedAs(editor.document.uri);
    const lines = shown?.file.hunks.filter(isDecided).map((it) => shown.texts.layout.of(it.id)?.proposed);
    return lines?.filter((it) => it !== undefined) ?? [];
  }
}

function decoration({ lines: [first, last], reason, text }: Mark, language: string): DecorationOptions {
  const hover = markdownOf([{ words: reason }, ...(text.length <= MOST_IN_HOVER ? [{ code: text }] : [])], language);
  return { range: new Range(first, 0, last, 0), hoverMessage: hover };
}
