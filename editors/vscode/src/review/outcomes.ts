// What became of a file when its review has ended: what is in it now, and what the user has to hear.

import type { Receipt, ReviewFile } from "../protocol";
import { counted } from "../words";
import type { FileUnderReview } from "./file";
import { nameOf } from "./reviews";
import { type Place, placeAt } from "./texts";

const TYPED_THERE = "the user typed there meanwhile";

/** Why something is not in the file, and what the user wrote for it. */
export interface Loss {
  why: string;
  words: string[];
}

export function isAcceptedIn(file: ReviewFile, receipts: readonly Receipt[]): boolean {
  return receipts.some((it) => isAccepted(it) && file.hunks.some((hunk) => hunk.id === it.hunkId));
}

/** Where the file has changed first. What comes before is as it was, so the place is the same as before the change. */
export function firstAccepted(texts: FileUnderReview, receipts: readonly Receipt[]): Place | undefined {
  const accepted = new Set(receipts.filter(isAccepted).map((it) => it.hunkId));
  const first = texts.sheet.hunks.find((it) => accepted.has(it.id));
  return first && placeAt(texts.sheet.base, first.start);
}

export function lossIn(file: ReviewFile, words: string[], receipts: readonly Receipt[]): Loss | undefined {
  const own = receipts.filter((it) => file.hunks.some((hunk) => hunk.id === it.hunkId));
  const failed = own.filter((it) => it.state === "superseded" && it.reason !== TYPED_THERE);
  const reason = failed[0]?.reason;
  const name = nameOf(file.uri);
  if (reason) {
    return { why: `${counted(failed.length, "change")} of ${name} not applied: ${reason}.`, words };
  }
  const why = `What you wrote for a change of ${name} was not used: the review has ended.`;
  return words.length > 0 ? { why, words } : undefined;
}

function isAccepted({ state }: Receipt): boolean {
  return state === "accepted" || state === "modified";
}
