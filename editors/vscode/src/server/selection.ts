// What is selected, or where the cursor is: told while an agent in a terminal uses VS Code as its IDE.

import { type Disposable, type TextEditor, window } from "vscode";

const PAUSE_MS = 100;

export class SelectionWatch implements Disposable {
  #subscriptions: Disposable[] = [];
  #pause: NodeJS.Timeout | undefined;

  constructor(private readonly tell: (editor: TextEditor) => void) {}

  watch(isWanted: boolean): void {
    this.dispose();
    if (!isWanted) return;
    const soon = (): void => {
      this.#pause ??= setTimeout(() => this.#tell(), PAUSE_MS);
    };
    this.#subscriptions = [window.onDidChangeActiveTextEditor(soon), window.onDidChangeTextEditorSelection(soon)];
    soon();
  }

  dispose(): void {
    clearTimeout(this.#pause);
    this.#pause = undefined;
    for (const it of this.#subscriptions.splice(0)) it.dispose();
  }

  #tell(): void {
    this.#pause = undefined;
    const editor = window.activeTextEditor;
    if (editor?.document.uri.scheme === "file") this.tell(editor);
  }
}
