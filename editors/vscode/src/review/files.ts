// The files under review, and which of them a document belongs to.

import type { TextDocument, TextDocumentContentChangeEvent, Uri } from "vscode";
import type { Review } from "../protocol";
import { isPending } from "../session/reviews";
import { SCHEME, sameUri } from "./addresses";
import type { Chosen, Shown } from "./shown";

/** What a document on the screen is to have. */
export interface Text {
  text: string;
  isEditable: boolean;
}

export class ShownFiles {
  #shown: Shown[] = [];

  /** Those whose review goes on. */
  get open(): readonly Shown[] {
    return this.#shown.filter((it) => !it.isEnding);
  }

  /** All their changes, decided or not, in the order in which they are shown. */
  get all(): readonly Chosen[] {
    return this.open.flatMap((it) => it.file.hunks.map((hunk) => ({ shown: it, hunk })));
  }

  get pending(): readonly Chosen[] {
    return this.all.filter((it) => isPending(it.hunk));
  }

  /** Of one proposal, or of all. */
  pendingOf(proposalId: string | undefined): readonly Chosen[] {
    return this.pending.filter((it) => !proposalId || it.shown.review.proposalId === proposalId);
  }

  of(review: Review | undefined): Shown[] {
    return this.open.filter((it) => it.review === review);
  }

  /** The file that is proposed as this document. */
  proposedAs(uri: Uri): Shown | undefined {
    const found = this.#rightAt(uri);
    return found?.isEnding ? undefined : found;
  }

  /** What is under review of this file. */
  reviewsOf(uri: Uri): Shown[] {
    return this.open.filter((it) => sameUri(it.real, uri));
  }

  add(files: readonly Shown[]): void {
    this.#shown.push(...files);
  }

  /** The review is over, but not yet off the screen. */
  end(review: Review | undefined): Shown[] {
    const files = this.of(review);
    for (const it of files) {
      it.isEnding = true;
      it.watcher.dispose();
    }
    return files;
  }

  remove(files: readonly Shown[]): void {
    this.#shown = this.#shown.filter((it) => !files.includes(it));
  }

  /** The result are words of the user that have no place any more. */
  opened(document: TextDocument): string[] {
    for (const { texts } of this.reviewsOf(document.uri)) {
      texts.openReal(document);
    }
    return this.proposedAs(document.uri)?.texts.openProposed(document) ?? [];
  }

  closed({ uri }: TextDocument): void {
    for (const { texts } of this.reviewsOf(uri)) {
      texts.closeReal();
    }
    this.proposedAs(uri)?.texts.closeProposed();
  }

  saved(uri: Uri): void {
    this.#rightAt(uri)?.texts.own.keep();
  }

  /** Somebody typed into a document; `false` if it is not one of these. */
  typed({ uri }: TextDocument, changes: readonly TextDocumentContentChangeEvent[]): boolean {
    const files = this.#shown.filter((it) => sameUri(it.real, uri));
    const proposed = this.#rightAt(uri);
    for (const { texts } of files) {
      texts.realTyped(changes);
    }
    proposed?.texts.proposedTyped(changes);
    return proposed !== undefined || files.length > 0;
  }

  /** Of a document that only a review has: a proposed text, or the left of a file that does not exist yet. */
  textOf(uri: Uri): Text | undefined {
    const it = this.#rightAt(uri);
    if (it?.isText) {
      return { text: it.texts.proposed, isEditable: it.texts.isEditable };
    }
    const left = this.#shown.find((shown) => sameUri(shown.left, uri));
    return left && { text: left.texts.sheet.base, isEditable: false };
  }

  #rightAt(uri: Uri): Shown | undefined {
    return uri.scheme === SCHEME ? this.#shown.find((it) => sameUri(it.right, uri)) : undefined;
  }
}
