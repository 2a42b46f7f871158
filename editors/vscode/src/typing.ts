// Whether somebody is typing: then nothing may come to the place where the keys go.

import type { Disposable, TextDocumentChangeEvent, TextEditor } from "vscode";

const PAUSE_MS = 3000;

interface Editing {
  onDidChangeTextDocument(listener: (event: TextDocumentChangeEvent) => void): Disposable;
  activeEditor(): TextEditor | undefined;
  now(): number;
}

export class Typing {
  readonly #subscription: Disposable;
  #lastKey = Number.NEGATIVE_INFINITY;

  constructor(private readonly editing: Editing) {
    this.#subscription = editing.onDidChangeTextDocument((event) => {
      if (event.contentChanges.length > 0 && event.document === editing.activeEditor()?.document) {
        this.#lastKey = editing.now();
      }
    });
  }

  get isGoingOn(): boolean {
    return this.editing.now() - this.#lastKey < PAUSE_MS;
  }

  dispose(): void {
    this.#subscription.dispose();
  }
}
