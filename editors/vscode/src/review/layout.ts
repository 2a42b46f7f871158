// Where the hunks of a sheet stand, in lines: counted once, since a sheet does not change.

import { Lines, type Sheet, type Span, shown, spans } from "./texts";

/** A hunk that is decided, and where the text has it. */
export interface Settled extends Span {
  id: string;
}

/** The first and the last line of a hunk, counted from 0. */
export type Stretch = readonly [number, number];

interface Place {
  real: Stretch;
  proposed: Stretch;
}

export class Layout {
  readonly real: Lines;
  readonly proposed: Lines;
  readonly #hunks: ReadonlyMap<string, Place>;

  constructor(
    readonly sheet: Sheet,
    settled: readonly Settled[] = [],
  ) {
    this.real = new Lines(sheet.base);
    this.proposed = new Lines(shown(sheet));
    const places = spans(sheet);
    const waiting = sheet.hunks.map(({ id, start, old, text }, index): [string, Place] => {
      const at = places[index]?.start ?? 0;
      return [id, { real: stretch(this.real, start, old), proposed: stretch(this.proposed, at, text) }];
    });
    const decided = settled.map(({ id, start, end }): [string, Place] => {
      const text = sheet.base.slice(start, end);
      const at = start + grownBefore(sheet, start);
      return [id, { real: stretch(this.real, start, text), proposed: stretch(this.proposed, at, text) }];
    });
    this.#hunks = new Map([...decided, ...waiting]);
  }

  /** In the file and in the text that is proposed. */
  of(hunkId: string): Place | undefined {
    return this.#hunks.get(hunkId);
  }
}

function stretch(lines: Lines, start: number, text: string): Stretch {
  const end = start + text.length - (text.endsWith("\n") ? 1 : 0);
  return [lines.placeAt(start).line, lines.placeAt(end).line];
}

/** How much longer the text is up to an offset with the hunks before it. */
function grownBefore({ hunks }: Sheet, offset: number): number {
  const before = hunks.filter((it) => it.start + it.old.length <= offset);
  return before.reduce((sum, it) => sum + it.text.length - it.old.length, 0);
}
