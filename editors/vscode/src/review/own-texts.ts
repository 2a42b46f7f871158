// What the user wants in place of hunks' texts, until it is used or no longer wanted.

import type { ReviewHunk } from "../protocol";
import { isPending } from "../session/reviews";
import { unified } from "./texts";

export class OwnTexts {
  readonly #texts = new Map<string, string>();
  /** The same, as it was when the proposed document was last saved. */
  #kept = new Map<string, string>();
  /** Hunks that were decided here, with what the user made of them. */
  readonly #decided = new Set<string>();

  of(hunkId: string): string | undefined {
    return this.#texts.get(hunkId);
  }

  /** A hunk now stands so on the screen; what is proposed is not the user's own. */
  write({ id, newText }: ReviewHunk, text: string): void {
    if (text === unified(newText)) {
      this.#texts.delete(id);
    } else {
      this.#texts.set(id, text);
    }
  }

  keep(): void {
    this.#kept = new Map(this.#texts);
  }

  /** What was not kept is not wanted, unless it was decided on. */
  revert(): void {
    const decided = [...this.#texts].filter(([id]) => this.#decided.has(id));
    this.#texts.clear();
    for (const [id, text] of [...this.#kept, ...decided]) {
      this.#texts.set(id, text);
    }
  }

  /** The user has decided on these: nothing of theirs gets lost with them. */
  settle(hunkIds: readonly string[]): void {
    for (const id of hunkIds) {
      this.#decided.add(id);
    }
  }

  /** They are open again, or the server did not hear of it. */
  unsettle(hunkIds: readonly string[]): void {
    for (const id of hunkIds) {
      this.#decided.delete(id);
    }
  }

  /** Give up those for hunks that somebody else has decided. */
  lose(hunks: readonly ReviewHunk[]): string[] {
    const lost: string[] = [];
    for (const hunk of hunks) {
      const own = this.#texts.get(hunk.id);
      if (own !== undefined && !isPending(hunk) && !this.#decided.has(hunk.id)) {
        lost.push(own);
        this.#texts.delete(hunk.id);
      }
    }
    return lost;
  }

  /** For hunks that the user has not decided on. */
  get unused(): string[] {
    return [...this.#texts].filter(([id]) => !this.#decided.has(id)).map(([, text]) => text);
  }
}
