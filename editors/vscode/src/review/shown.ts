// A file of a review on the screen: the two sides of its diff.

import { type Disposable, Uri, workspace } from "vscode";
import type { Review, ReviewFile, ReviewHunk } from "../protocol";
import { SCHEME } from "./addresses";
import { onDeletion } from "./deletions";
import { FileUnderReview } from "./file";
import type { Pen } from "./side";

export interface Shown {
  readonly review: Review;
  readonly file: ReviewFile;
  readonly texts: FileUnderReview;
  readonly real: Uri;
  readonly left: Uri;
  readonly right: Uri;
  readonly watcher: Disposable;
  /** Its text can be shown: it is neither a folder nor binary. */
  isText: boolean;
  /** Its review has ended, its tabs are about to close. What is still typed there is the user's all the same. */
  isEnding: boolean;
}

export interface Chosen {
  shown: Shown;
  hunk: ReviewHunk;
}

export function shownFile(review: Review, file: ReviewFile, pen: Pen, deleted: (uri: Uri) => void): Shown {
  const real = Uri.parse(file.uri);
  const right = Uri.from({ scheme: SCHEME, path: acceptedUri(file).path, query: review.proposalId });
  const left = file.operation === "create" ? right.with({ query: `${review.proposalId}&empty` }) : real;
  const texts = new FileUnderReview(file, pen);
  const watcher = onDeletion(real, () => deleted(real));
  return { review, file, texts, real, left, right, watcher, isText: file.operation === "create", isEnding: false };
}

/** Where the file is once it is accepted. */
export function acceptedUri(file: ReviewFile): Uri {
  return Uri.parse(file.newUri ?? file.uri);
}

/** Learn what stands in the file, if it is one with text. */
export async function read(it: Shown): Promise<void> {
  if (it.isText) {
    return;
  }
  try {
    it.texts.openReal(await workspace.openTextDocument(it.real));
    it.isText = true;
  } catch {
    it.isText = false;
  }
}
