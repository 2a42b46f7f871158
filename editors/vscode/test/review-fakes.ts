// Files under review as VS Code would show them.

import type { TextDocument, TextDocumentContentChangeEvent, Uri } from "vscode";
import type { Review, ReviewHunk } from "../src/protocol";
import { SCHEME } from "../src/review/addresses";
import { FileUnderReview } from "../src/review/file";
import type { Shown } from "../src/review/shown";
import type { Pen } from "../src/review/side";
import { type Change, changed, placeAt, unified } from "../src/review/texts";

export const BASE = "one\ntwo\nthree\nfour\n";

export const hunk = (id: string, at: string, oldText: string, newText: string, base = BASE): ReviewHunk => {
  const start = base.indexOf(at);
  const range = { start: placeAt(base, start), end: placeAt(base, start + oldText.length) };
  return { id, range, oldText, newText, reason: "", state: "pending" };
};

/** A document as VS Code has it, with one kind of line ends; what it is told to do is done when the test says. */
export class FakeDocument {
  version = 1;
  isDirty = false;
  listener: (changes: readonly TextDocumentContentChangeEvent[]) => void = () => {};

  constructor(
    public text: string,
    public eol = 1,
    readonly uri = uriOf("file:///w/a.txt"),
  ) {}

  getText(): string {
    return this.eol === 2 ? this.text.replaceAll("\n", "\r\n") : this.text;
  }

  type(change: Change, isDirty = true): void {
    const [start, end] = [placeAt(this.text, change.start), placeAt(this.text, change.end)];
    const typed = { range: { start, end }, rangeOffset: 0, rangeLength: 0, text: change.text };
    this.text = changed(this.text, { ...change, text: unified(change.text) });
    this.version += 1;
    this.isDirty = isDirty;
    this.listener([typed as unknown as TextDocumentContentChangeEvent]);
  }

  find(words: string): number {
    return this.text.indexOf(words);
  }

  get asDocument(): TextDocument {
    return this as unknown as TextDocument;
  }
}

export const PEN: Pen = { edit: async () => true, reload: () => {} };

/** As much of an address as is looked at. */
export function uriOf(text: string): Uri {
  return { scheme: text.slice(0, text.indexOf(":")), toString: () => text } as unknown as Uri;
}

/** A review of one file, which is open. */
export class ReviewOfOne {
  readonly review: Review;
  readonly shown: Shown;
  readonly real = new FakeDocument(BASE);
  readonly right: FakeDocument;
  isWatched = true;

  constructor(hunks: ReviewHunk[], proposalId = "p") {
    const uri = this.real.uri.toString();
    const file = { uri, operation: "edit" as const, baseHash: "", proposedText: "", hunks };
    const texts = new FileUnderReview(file, PEN);
    texts.openReal(this.real.asDocument);
    this.review = { proposalId, turnId: "t", reason: "", files: [file] };
    this.right = new FakeDocument(texts.proposed, 1, uriOf(`${SCHEME}:/w/a.txt?${proposalId}`));
    texts.openProposed(this.right.asDocument);
    const sides = { real: this.real.uri, left: this.real.uri, right: this.right.uri };
    const watcher = { dispose: () => (this.isWatched = false) };
    this.shown = { review: this.review, file, texts, ...sides, watcher, isText: true, isEnding: false };
  }
}
