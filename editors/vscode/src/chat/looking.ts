// What is looked at in the editor beside the chat, told when nothing has changed for a moment.

import { type Disposable, window } from "vscode";
import { isCommentBox } from "../context";
import type { Attachment } from "./messages";
import { lookedAt } from "./surroundings";

export const LOOK_PAUSE_MS = 100;

export class Looking {
  #pause: NodeJS.Timeout | undefined;
  readonly #subscriptions: readonly Disposable[];

  constructor(private readonly tell: (looked: Attachment | null) => void) {
    this.#subscriptions = [
      window.onDidChangeActiveTextEditor(() => this.#tellSoon()),
      window.onDidChangeTextEditorSelection(() => this.#tellSoon()),
    ];
  }

  tellNow(): void {
    if (!isInCommentBox()) this.tell(lookedAt());
  }

  dispose(): void {
    clearTimeout(this.#pause);
    for (const subscription of this.#subscriptions) subscription.dispose();
  }

  /** What it is is asked at once: a moment later the editor may be another one, or the box of a comment. */
  #tellSoon(): void {
    if (isInCommentBox()) return;
    const looked = lookedAt();
    clearTimeout(this.#pause);
    this.#pause = setTimeout(() => this.tell(looked), LOOK_PAUSE_MS);
  }
}

function isInCommentBox(): boolean {
  return isCommentBox(window.activeTextEditor?.document);
}
