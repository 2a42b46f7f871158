// A document that is to have a text, which others change too: tells what was typed from what was sent to it.

import { type Change, changed, difference, moved } from "./texts";

export class Follower {
  readonly #sent = new Set<string>();

  constructor(public known: string) {}

  sent(text: string): void {
    this.#sent.add(text);
  }

  /** What somebody else did to the document, as changes one after the other of the text that it should have. */
  typed(now: string, changes: readonly Change[], wanted: string): Change[] {
    const before = this.known;
    this.known = now;
    if (now === wanted) {
      this.#sent.clear();
    }
    if (now === before || now === wanted || this.#sent.has(now)) {
      return [];
    }
    const isTold = changes.reduce(changed, before) === now;
    const behind = difference(before, wanted);
    const typed = isTold ? changes : [difference(before, now) as Change];
    return typed.map((change) => (behind ? moved(change, behind) : change));
  }
}
