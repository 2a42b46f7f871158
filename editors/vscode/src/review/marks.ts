// Where a file would change, marked lightly in its own editor; what it would be is in the hover.

import { type DecorationOptions, MarkdownString, OverviewRulerLane, Range, ThemeColor, window } from "vscode";
import type { ShownFiles } from "./files";
import { pendingIn } from "./reviews";

const MOST_IN_HOVER = 2000;

export class ReviewMarks {
  readonly #type = window.createTextEditorDecorationType({
    isWholeLine: true,
    borderStyle: "solid",
    borderWidth: "0 0 0 2px",
    borderColor: new ThemeColor("editorGutter.modifiedBackground"),
    overviewRulerColor: new ThemeColor("editorOverviewRuler.modifiedForeground"),
    overviewRulerLane: OverviewRulerLane.Left,
  });

  constructor(private readonly files: ShownFiles) {}

  draw(): void {
    for (const editor of window.visibleTextEditors) {
      // The sides of a diff have no column of their own.
      const files = editor.viewColumn === undefined ? [] : this.files.reviewsOf(editor.document.uri);
      const marks: DecorationOptions[] = files.flatMap(({ file, texts }) =>
        pendingIn(file).flatMap((hunk) => {
          const lines = texts.layout.of(hunk.id)?.real;
          if (!lines) {
            return [];
          }
          const hover = new MarkdownString().appendText(hunk.reason);
          if (hunk.newText.length <= MOST_IN_HOVER) {
            hover.appendCodeblock(hunk.newText, editor.document.languageId);
          }
          return [{ range: new Range(lines[0], 0, lines[1], 0), hoverMessage: hover }];
        }),
      );
      editor.setDecorations(this.#type, marks);
    }
  }

  dispose(): void {
    this.#type.dispose();
  }
}
