// Whether somebody is typing: then nothing may come to the place where the keys go.

import type { Disposable, TextEditorSelectionChangeEvent } from "vscode";

const PAUSE_MS = 3000;
/** `TextEditorSelectionChangeKind.Keyboard`: edits that are made by others move the cursor too, but not with keys. */
const BY_KEYS = 1;

interface Editing {
  onDidChangeTextEditorSelection(listener: (event: TextEditorSelectionChangeEvent) => void): Disposable;
  now(): number;
}

export class Typing {
  readonly #subscription: Disposable;
  #lastKey = Number.NEGATIVE_INFINITY;

  constructor(private readonly editing: Editing) {
    this.#subscription = editing.onDidChangeTextEditorSelection(({ kind }) => {
      if (kind === BY_KEYS) {
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
