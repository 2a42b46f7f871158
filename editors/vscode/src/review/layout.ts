// Where the hunks of a sheet stand, in lines: counted once, since a sheet does not change.

import { Lines, type Sheet, shown, spans } from "./texts";

/** The first and the last line of a hunk, counted from 0. */
export type Stretch = readonly [number, number];

export class Layout {
  readonly real: Lines;
  readonly proposed: Lines;
  readonly #hunks: ReadonlyMap<string, { real: Stretch; proposed: Stretch }>;

  constructor(readonly sheet: Sheet) {
    this.real = new Lines(sheet.base);
    this.proposed = new Lines(shown(sheet));
    const places = spans(sheet);
    this.#hunks = new Map(
      sheet.hunks.map(({ id, start, old, text }, index) => {
        const at = places[index]?.start ?? 0;
        return [id, { real: stretch(this.real, start, old), proposed: stretch(this.proposed, at, text) }];
      }),
    );
  }

  /** In the file and in the text that is proposed. */
  of(hunkId: string): { real: Stretch; proposed: Stretch } | undefined {
    return this.#hunks.get(hunkId);
  }
}

function stretch(lines: Lines, start: number, text: string): Stretch {
  const end = start + text.length - (text.endsWith("\n") ? 1 : 0);
  return [lines.placeAt(start).line, lines.placeAt(end).line];
}
