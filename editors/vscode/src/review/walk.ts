// The changes under review one after the other, and where the user is among them.

import { t } from "../l10n";
import { filesOf, isPending } from "../session/reviews";
import type { Position } from "../session/state";
import type { Chosen } from "./shown";

/** The first change that waits, of those beyond some place, then from the start on. */
export function nextBeyond(all: readonly Chosen[], isBeyond: (it: Chosen) => boolean): Chosen | undefined {
  const at = all.findIndex(isBeyond);
  const ordered = at < 0 ? all : [...all.slice(at), ...all.slice(0, at)];
  return ordered.find((it) => isPending(it.hunk));
}

/** The next change that waits after one, and around; the one itself comes last. */
export function nextAfter(all: readonly Chosen[], hunkId: string | undefined): Chosen | undefined {
  const at = all.findIndex((it) => it.hunk.id === hunkId);
  return nextBeyond(all, (it) => it === all[at + 1]);
}

export function positionOf(all: readonly Chosen[], { shown, hunk }: Chosen): Position {
  const { review } = shown;
  const own = all.filter((it) => it.shown.review === review);
  const files = [...new Set(own.map((it) => it.shown))];
  const change = t("{0} of {1}", own.findIndex((it) => it.hunk.id === hunk.id) + 1, own.length);
  const file = t("{0} of {1}", files.indexOf(shown) + 1, filesOf(files.length));
  return { proposalId: review.proposalId, words: files.length > 1 ? `${change} · ${file}` : change };
}

/** Remembers at which change the user is, by their cursor or because they were taken there. */
export class Bookmark {
  #hunkId: string | undefined;
  #isHere = false;

  constructor(private readonly files: { readonly all: readonly Chosen[] }) {}

  /** The user is at this change, or at none. */
  put(hunkId: string | undefined): void {
    this.#hunkId = hunkId ?? this.#hunkId;
    this.#isHere = hunkId !== undefined;
  }

  /** The change where the user is, decided or not. */
  get here(): Chosen | undefined {
    return this.#isHere ? this.files.all.find((it) => it.hunk.id === this.#hunkId) : undefined;
  }

  /** The change that is to be decided first: the one where the user is or was, or the next one below. */
  get current(): Chosen | undefined {
    const { all } = this.files;
    const marked = all.find((it) => it.hunk.id === this.#hunkId);
    return marked && isPending(marked.hunk) ? marked : nextAfter(all, this.#hunkId);
  }

  get position(): Position | undefined {
    const { current } = this;
    return current && positionOf(this.files.all, current);
  }
}
