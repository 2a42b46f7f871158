// Where a file would change, marked lightly in its own editor; what it would be is in the hover.

import {
  type DecorationOptions,
  MarkdownString,
  OverviewRulerLane,
  Range,
  type TextEditor,
  ThemeColor,
  window,
} from "vscode";
import type { ShownFiles } from "./files";
import type { Stretch } from "./layout";
import { pendingIn } from "./reviews";

const MOST_IN_HOVER = 2000;

interface Mark {
  lines: Stretch;
  reason: string;
  text: string;
}

export class ReviewMarks {
  readonly #type = window.createTextEditorDecorationType({
    isWholeLine: true,
    borderStyle: "solid",
    borderWidth: "0 0 0 2px",
    borderColor: new ThemeColor("editorGutter.modifiedBackground"),
    overviewRulerColor: new ThemeColor("editorOverviewRuler.modifiedForeground"),
    overviewRulerLane: OverviewRulerLane.Left,
  });
  /** What stands in each editor. It moves along with what is typed there. */
  readonly #drawn = new WeakMap<TextEditor, string>();

  constructor(private readonly files: ShownFiles) {}

  draw(): void {
    for (const editor of window.visibleTextEditors) {
      const marks = this.#marksIn(editor);
      const wanted = JSON.stringify(marks);
      if (wanted !== (this.#drawn.get(editor) ?? "[]")) {
        this.#drawn.set(editor, wanted);
        editor.setDecorations(
          this.#type,
          marks.map((it) => decoration(it, editor.document.languageId)),
        );
      }
    }
  }

  dispose(): void {
    this.#type.dispose();
  }

  #marksIn(editor: TextEditor): Mark[] {
    // The sides of a diff have no column of their own.
    const files = editor.viewColumn === undefined ? [] : this.files.reviewsOf(editor.document.uri);
    return files.flatMap(({ file, texts }) =>
      pendingIn(file).flatMap(({ id, reason, newText }) => {
        const lines = texts.layout.of(id)?.real;
        return lines ? [{ lines, reason, text: newText }] : [];
      }),
    );
  }
}

function decoration({ lines: [first, last], reason, text }: Mark, language: string): DecorationOptions {
  const hover = new MarkdownString().appendText(reason);
  if (text.length <= MOST_IN_HOVER) {
    hover.appendCodeblock(text, language);
  }
  return { range: new Range(first, 0, last, 0), hoverMessage: hover };
}
