// A file's text with proposed hunks in it, and what typing on either side of their diff means. Lines end with "\n".

/** What stands from `start` to `end` makes way for `text`. */
export interface Change {
  start: number;
  end: number;
  text: string;
}

/** A hunk in a text: `old` stands at `start`, and is shown as `text`. */
export interface Placed {
  id: string;
  start: number;
  old: string;
  text: string;
}

/** A text and the hunks that wait to be in it, in the order of the text and apart from each other. */
export interface Sheet {
  readonly base: string;
  readonly hunks: readonly Placed[];
}

export interface Span {
  start: number;
  end: number;
}

export interface Place {
  line: number;
  character: number;
}

export function unified(text: string): string {
  return text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text;
}

/** A text whose lines are counted once, for whoever looks for many places in it. */
export class Lines {
  /** Where each line begins. */
  readonly #starts = [0];

  constructor(readonly text: string) {
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", end + 1)) {
      this.#starts.push(end + 1);
    }
  }

  offsetAt({ line, character }: Place): number {
    const start = this.#starts[line];
    return start === undefined ? this.text.length : Math.min(start + character, this.#endOf(line));
  }

  placeAt(offset: number): Place {
    let [line, after] = [0, this.#starts.length];
    while (after - line > 1) {
      const middle = (line + after) >> 1;
      if (this.#startOf(middle) <= offset) {
        line = middle;
      } else {
        after = middle;
      }
    }
    return { line, character: offset - this.#startOf(line) };
  }

  /** Without its end. */
  line(line: number): string {
    return this.text.slice(this.#startOf(line), this.#endOf(line));
  }

  #startOf(line: number): number {
    return this.#starts[line] ?? this.text.length;
  }

  #endOf(line: number): number {
    const next = this.#starts[line + 1];
    return next === undefined ? this.text.length : next - 1;
  }
}

export function offsetAt(text: string, place: Place): number {
  return new Lines(text).offsetAt(place);
}

export function placeAt(text: string, offset: number): Place {
  return new Lines(text).placeAt(offset);
}

export function changed(text: string, change: Change): string {
  return text.slice(0, change.start) + change.text + text.slice(change.end);
}

/** The one change that leads from one text to the other; `undefined` if there is none. */
export function difference(from: string, to: string): Change | undefined {
  return from === to ? undefined : narrowed(from, { start: 0, end: from.length, text: to });
}

/** The same change without what it leaves as it is. */
export function narrowed(text: string, change: Change): Change {
  const old = text.slice(change.start, change.end);
  const most = Math.min(old.length, change.text.length);
  let head = 0;
  while (head < most && old.charCodeAt(head) === change.text.charCodeAt(head)) {
    head++;
  }
  let tail = 0;
  const [oldLast, newLast] = [old.length - 1, change.text.length - 1];
  while (tail < most - head && old.charCodeAt(oldLast - tail) === change.text.charCodeAt(newLast - tail)) {
    tail++;
  }
  return {
    start: change.start + head,
    end: change.end - tail,
    text: change.text.slice(head, change.text.length - tail),
  };
}

/** The text with all its hunks. */
export function shown({ base, hunks }: Sheet): string {
  let text = "";
  let at = 0;
  for (const hunk of hunks) {
    text += base.slice(at, hunk.start) + hunk.text;
    at = endOf(hunk);
  }
  return text + base.slice(at);
}

/** Where each hunk is in the text that is shown. */
export function spans({ hunks }: Sheet): Span[] {
  let shift = 0;
  return hunks.map((hunk) => {
    const start = hunk.start + shift;
    shift += hunk.text.length - hunk.old.length;
    return { start, end: start + hunk.text.length };
  });
}

/** What stands in place of each hunk in a text that is like the one that is shown between them; `undefined` if it is
 * another one. */
export function textsIn(sheet: Sheet, text: string): string[] | undefined {
  const texts: string[] = [];
  const gaps = gapsOf(sheet);
  let at = gaps[0]?.length ?? 0;
  if (!text.startsWith(gaps[0] ?? "")) {
    return undefined;
  }
  for (const [index, hunk] of sheet.hunks.entries()) {
    const gap = gaps[index + 1] ?? "";
    const isLast = index === sheet.hunks.length - 1;
    const isSame = !isLast && text.startsWith(hunk.text + gap, at);
    const end = isLast ? text.length - gap.length : isSame ? at + hunk.text.length : gap ? text.indexOf(gap, at) : -1;
    if (end < at || !text.startsWith(gap, end)) {
      return undefined;
    }
    texts.push(text.slice(at, end));
    at = end + gap.length;
  }
  return at === text.length ? texts : undefined;
}

/** The text before, between and after the hunks. */
function gapsOf({ base, hunks }: Sheet): string[] {
  const starts = [0, ...hunks.map(endOf)];
  return starts.map((start, index) => base.slice(start, hunks[index]?.start));
}

/** Where something is after a change. */
export function moved<T extends Span>(it: T, by: Change): T {
  const grown = by.text.length - (by.end - by.start);
  const place = (at: number) => (at <= by.start ? at : at >= by.end ? at + grown : by.start);
  const start = place(it.start);
  return { ...it, start, end: Math.max(start, place(it.end)) };
}

/** The text itself has changed: a hunk that was applied is in it now, the others move along. */
export function changedBelow(sheet: Sheet, change: Change): Sheet {
  const made = narrowed(sheet.base, change);
  return typedBelow({ ...sheet, hunks: sheet.hunks.filter((it) => !isApplied(sheet.base, it, made)) }, change);
}

/** Somebody typed into the text itself: hunks move along, and those that were typed into go, as on the server. */
export function typedBelow(sheet: Sheet, typed: Change): Sheet {
  const change = narrowed(sheet.base, typed);
  const grown = change.text.length - (change.end - change.start);
  const hunks: Placed[] = [];
  for (const hunk of sheet.hunks) {
    const besideInsertion = !hunk.old && change.start <= hunk.start && hunk.start <= change.end;
    if (besideInsertion && change.start < change.end) {
      continue;
    }
    if (change.end <= hunk.start) {
      hunks.push({ ...hunk, start: hunk.start + grown });
    } else if (change.start >= endOf(hunk)) {
      hunks.push(hunk);
    }
  }
  return { base: changed(sheet.base, change), hunks };
}

/**
 * Somebody typed into the text with the hunks: inside of a hunk that is what they want in its place, outside it is an
 * edit of the text itself, for which `edits` are in the order of the text.
 *
 * Not taken is what the place of an insertion does not survive: the sheet then shows another text than the one that was
 * typed.
 */
export function typedInto(sheet: Sheet, typed: Change): { sheet: Sheet; edits: Change[] } {
  const change = narrowed(shown(sheet), typed);
  const places = spans(sheet);
  const host = hostOf(sheet, places, change);
  const hunks = sheet.hunks.map((hunk, index) => {
    const place = places[index] as Span;
    const cut = common(place, change);
    if (!cut && index !== host) {
      return hunk;
    }
    const start = Math.max((cut?.start ?? change.start) - place.start, 0);
    const text = index === host ? change.text : "";
    return { ...hunk, text: hunk.text.slice(0, start) + text + hunk.text.slice(start + (cut ? lengthOf(cut) : 0)) };
  });
  const edits = editsOf(sheet, places, change, host === undefined);
  let next: Sheet = { base: sheet.base, hunks };
  for (const edit of edits.toReversed()) {
    next = typedBelow(next, edit);
  }
  return { sheet: next, edits };
}

/** The hunk that takes what was put in. */
function hostOf(sheet: Sheet, places: readonly Span[], change: Change): number | undefined {
  const index = sheet.hunks.findIndex((hunk, at) => {
    const place = places[at] as Span;
    if (!change.text) {
      return false;
    }
    if (common(place, change)) {
      return true;
    }
    if (!hunk.old) {
      return place.start <= change.end && change.start <= place.end;
    }
    const isPlace = change.start === change.end && hunk.text !== "";
    const most = hunk.text.endsWith("\n") ? place.end - 1 : place.end;
    return isPlace && place.start <= change.start && change.start <= most;
  });
  return index < 0 ? undefined : index;
}

/** What the change means for the text between the hunks. */
function editsOf(sheet: Sheet, places: readonly Span[], change: Change, takesText: boolean): Change[] {
  const edits: Change[] = [];
  let text = takesText ? change.text : "";
  for (let index = 0; index <= sheet.hunks.length; index++) {
    const [before, after] = [sheet.hunks[index - 1], sheet.hunks[index]];
    const gap = { start: places[index - 1]?.end ?? 0, end: places[index]?.start ?? shown(sheet).length };
    const toBase = (before ? endOf(before) : 0) - gap.start;
    const cut = common(gap, change);
    const [start, end] = [cut?.start ?? change.start, cut?.end ?? change.start];
    const standsHere = cut !== undefined || (text !== "" && gap.start <= start && start <= gap.end);
    if (!standsHere) {
      continue;
    }
    const atEdge = [before && start === gap.start && before, after && end === gap.end && after].filter((it) => !!it);
    const waits = !cut && after !== undefined && start === gap.end && isRemovalOfLines(after);
    if (waits || atEdge.some((hunk) => !survives(hunk, hunk === before, cut !== undefined))) {
      continue;
    }
    const edit = { start: start + toBase, end: end + toBase, text: change.start >= gap.start ? text : "" };
    if (edit.text || edit.start < edit.end) {
      edits.push(edit);
      text = text && edit.text ? "" : text;
    }
  }
  return edits;
}

/** Whether a hunk keeps its place when the text right beside it is edited. */
function survives(hunk: Placed, isBefore: boolean, removes: boolean): boolean {
  return hunk.old !== "" || (!removes && !isBefore);
}

/** What is typed at the place of lines that go belongs to the line after them. */
function isRemovalOfLines(hunk: Placed): boolean {
  return hunk.text === "" && hunk.old.endsWith("\n");
}

/** Whether a change, without what it leaves as it is, makes of a hunk's place what the hunk wants. */
function isApplied(base: string, hunk: Placed, { start, end, text }: Change): boolean {
  if (start < hunk.start || endOf(hunk) < end) {
    return false;
  }
  const whole = narrowed(base, { start: hunk.start, end: endOf(hunk), text: hunk.text });
  return whole.start === start && whole.end === end && whole.text === text;
}

function endOf(hunk: Placed): number {
  return hunk.start + hunk.old.length;
}

function lengthOf(span: Span): number {
  return span.end - span.start;
}

/** What both have of the text. */
function common(one: Span, two: Span): Span | undefined {
  const both = { start: Math.max(one.start, two.start), end: Math.min(one.end, two.end) };
  return both.start < both.end ? both : undefined;
}
