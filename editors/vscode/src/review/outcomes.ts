// What became of a file when its review has ended: what is in it now, and what the user has to hear.

import { t } from "../l10n";
import type { Receipt, ReviewFile } from "../protocol";
import { changesOf, isInDocument, nameOf } from "../session/reviews";
import type { FileUnderReview } from "./file";
import { type Place, placeAt } from "./texts";

const TYPED_THERE = "the user typed there meanwhile";

/** Why something is not in the file, and what the user wrote for it. */
export interface Loss {
  why: string;
  words: string[];
}

export function isAcceptedIn(file: ReviewFile, receipts: readonly Receipt[]): boolean {
  return receipts.some((it) => isInDocument(it) && file.hunks.some((hunk) => hunk.id === it.hunkId));
}

/** Where the file has changed first. */
export function firstAccepted({ sheet, settled }: FileUnderReview, receipts: readonly Receipt[]): Place | undefined {
  const accepted = new Set(receipts.filter(isInDocument).map((it) => it.hunkId));
  const starts = settled.filter((it) => accepted.has(it.id)).map((it) => it.start);
  return starts.length > 0 ? placeAt(sheet.base, Math.min(...starts)) : undefined;
}

export function lossIn(file: ReviewFile, words: string[], receipts: readonly Receipt[]): Loss | undefined {
  const own = receipts.filter((it) => file.hunks.some((hunk) => hunk.id === it.hunkId));
  const failed = own.filter((it) => it.state === "superseded" && it.reason !== TYPED_THERE);
  const reason = failed[0]?.reason;
  const name = nameOf(file.uri);
  if (reason) {
    return { why: t("{0} in {1} not applied: {2}.", changesOf(failed.length), name, reason), words };
  }
  const why = t("What you wrote for a change in {0} was not used: the review has ended.", name);
  return words.length > 0 ? { why, words } : undefined;
}
