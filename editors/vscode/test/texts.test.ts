import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { Follower } from "../src/review/follower";
import {
  type Change,
  changed,
  changedBelow,
  difference,
  moved,
  offsetAt,
  type Placed,
  placeAt,
  type Sheet,
  shown,
  spans,
  textsIn,
  typedBelow,
  typedInto,
  unified,
} from "../src/review/texts";

vi.setConfig({ testTimeout: 60_000 });

const hunk = (start: number, old: string, text: string): Placed => ({ id: `${start}`, start, old, text });

const words = (most: number) => fc.string({ unit: fc.constantFrom("a", "b", "é", "\n", "𝄞"), maxLength: most });

/** A text with hunks apart from each other, as the server makes them: none is idle. */
const sheets: fc.Arbitrary<Sheet> = fc
  .tuple(
    fc.array(
      fc.tuple(
        words(6).map((gap) => `${gap}x`),
        words(4),
        words(4),
      ),
      { maxLength: 4 },
    ),
    words(6),
  )
  .map(([parts, end]) => {
    let base = "";
    const hunks: Placed[] = [];
    for (const [gap, old, text] of parts) {
      base += gap;
      if (old !== text) {
        hunks.push(hunk(base.length, old, text));
      }
      base += old;
    }
    return { base: base + end, hunks };
  });

const changesOf = (text: string): fc.Arbitrary<Change> =>
  fc
    .tuple(fc.nat(text.length), fc.nat(6), words(4))
    .map(([start, length, typed]) => ({ start, end: Math.min(start + length, text.length), text: typed }));

const withChange = (sheet: fc.Arbitrary<Sheet>, textOf: (sheet: Sheet) => string) =>
  sheet.chain((it) => fc.tuple(fc.constant(it), changesOf(textOf(it))));

describe("what is typed into the text with the hunks", () => {
  test("inside of a hunk is what takes its place, outside an edit of the file", () => {
    const sheet = { base: "alpha = 1\nbeta = 2\n", hunks: [hunk(8, "1", "10")] };

    const inside = typedInto(sheet, { start: 10, end: 10, text: "0" });
    const outside = typedInto(sheet, { start: 0, end: 5, text: "omega" });

    expect(inside).toEqual({ sheet: { ...sheet, hunks: [hunk(8, "1", "100")] }, edits: [] });
    expect(shown(outside.sheet)).toBe("omega = 10\nbeta = 2\n");
    expect(outside.sheet.base).toBe("omega = 1\nbeta = 2\n");
    expect(outside.edits).toHaveLength(1);
  });

  test("at the line after lines that come or go belongs to that line", () => {
    const replaced = { base: "one\ntwo\n", hunks: [hunk(0, "one\n", "ONE\nMORE\n")] };
    const removed = { base: "one\ntwo\n", hunks: [hunk(0, "one\n", "")] };

    expect(typedInto(replaced, { start: 9, end: 9, text: "#" }).sheet.base).toBe("one\n#two\n");
    expect(typedInto(removed, { start: 0, end: 0, text: "#" }).sheet.base).toBe("one\n#two\n");
  });

  test("is all there, wherever it was typed, but for what an insertion stands beside", () => {
    fc.assert(
      fc.property(withChange(sheets, shown), ([sheet, change]) => {
        const { sheet: after, edits } = typedInto(sheet, change);
        const wanted = changed(shown(sheet), change);
        const text = shown(after);

        expect(edits.toReversed().reduce(changed, sheet.base)).toBe(after.base);
        expect(after.hunks.map((it) => it.id)).toEqual(sheet.hunks.map((it) => it.id));
        for (const it of after.hunks) {
          expect(after.base.slice(it.start, it.start + it.old.length)).toBe(it.old);
        }
        if (text !== wanted) {
          expect(sheet.hunks.some((it) => it.old === "")).toBe(true);
          expect(change.end).toBeGreaterThan(change.start);
          expect(text.length).toBeGreaterThan(wanted.length);
        }
      }),
      { numRuns: 1000 },
    );
  });
});

describe("what is typed into the file itself", () => {
  test("moves hunks along and ends those that it touches", () => {
    const sheet = { base: "one\ntwo\nthree\n", hunks: [hunk(4, "two", "TWO"), hunk(8, "three", "THREE")] };

    expect(shown(typedBelow(sheet, { start: 0, end: 0, text: "zero\n" }))).toBe("zero\none\nTWO\nTHREE\n");
    expect(shown(typedBelow(sheet, { start: 5, end: 6, text: "" }))).toBe("one\nto\nTHREE\n");
  });

  test("leaves each hunk that stays over its old text, with what the user made of it", () => {
    fc.assert(
      fc.property(
        withChange(sheets, (it) => it.base),
        ([sheet, change]) => {
          const after = typedBelow(sheet, change);

          expect(after.base).toBe(changed(sheet.base, change));
          for (const it of after.hunks) {
            expect(after.base.slice(it.start, it.start + it.old.length)).toBe(it.old);
            expect(sheet.hunks).toContainEqual({ ...it, start: expect.any(Number) });
          }
        },
      ),
      { numRuns: 1000 },
    );
  });
});

test("a hunk that is applied is in the text, and what is shown stays the same", () => {
  fc.assert(
    fc.property(
      sheets.filter((it) => it.hunks.length > 0).chain((it) => fc.tuple(fc.constant(it), fc.constantFrom(...it.hunks))),
      ([sheet, { id, start, old, text }]) => {
        const after = changedBelow(sheet, { start, end: start + old.length, text });

        expect(shown(after)).toBe(shown(sheet));
        expect(after.hunks.map((it) => it.id)).toEqual(sheet.hunks.map((it) => it.id).filter((it) => it !== id));
      },
    ),
    { numRuns: 1000 },
  );
});

test("what the user made of hunks is found again in a text, if it is the same between them", () => {
  const sheet = { base: "one\ntwo\nthree\n", hunks: [hunk(4, "two", "TWO"), hunk(8, "three", "3")] };

  expect(textsIn(sheet, "one\nmine\nalso mine\n")).toEqual(["mine", "also mine"]);
  expect(textsIn(sheet, "one\nTWO\n3\n")).toEqual(["TWO", "3"]);
  expect(textsIn(sheet, "two\nTWO\n3\n")).toBeUndefined();
  expect(textsIn(sheet, "one\nTWO 3\n")).toBeUndefined();
  expect(textsIn({ base: "one", hunks: [] }, "one more")).toBeUndefined();
  fc.assert(
    fc.property(sheets, (it) => {
      expect(textsIn(it, shown(it))).toEqual(it.hunks.map(({ text }) => text));
    }),
  );
});

test("what is decided stays where it is when the text around it changes", () => {
  const it = { start: 4, end: 8 };

  expect(moved(it, { start: 0, end: 2, text: "abc" })).toEqual({ start: 5, end: 9 });
  expect(moved(it, { start: 8, end: 9, text: "abc" })).toEqual({ start: 4, end: 8 });
  expect(moved(it, { start: 5, end: 6, text: "" })).toEqual({ start: 4, end: 7 });
  expect(moved(it, { start: 2, end: 6, text: "" })).toEqual({ start: 2, end: 4 });
  expect(moved(it, { start: 0, end: 9, text: "x" })).toEqual({ start: 0, end: 0 });
});

describe("a document that follows", () => {
  test("typing on both sides at once is on both sides in the end", () => {
    fc.assert(
      fc.property(
        sheets.chain((sheet) =>
          fc.tuple(fc.constant(sheet), fc.array(fc.tuple(fc.boolean(), fc.nat()), { maxLength: 6 })),
        ),
        ([first, keys]) => {
          let sheet = first;
          const file = new Follower(sheet.base);
          const proposed = new Follower(shown(sheet));
          let typed = 0;
          for (const [key, [isFile, at]] of keys.entries()) {
            const now = isFile ? file.known : proposed.known;
            const start = at % (now.length + 1);
            const change = { start, end: start, text: `${key}` };
            typed += 1;
            for (const it of (isFile ? file : proposed).typed(
              changed(now, change),
              [change],
              isFile ? sheet.base : shown(sheet),
            )) {
              sheet = isFile ? typedBelow(sheet, it) : typedInto(sheet, it).sheet;
            }
            if (at % 3 === 0) {
              file.typed(sheet.base, [], sheet.base);
            }
            if (at % 2 === 0) {
              proposed.typed(shown(sheet), [], shown(sheet));
            }
          }

          const own = sheet.hunks.reduce((sum, it) => sum + it.text.length - it.old.length, 0);
          const before = first.hunks
            .filter((it) => sheet.hunks.some((one) => one.id === it.id))
            .reduce((sum, it) => sum + it.text.length - it.old.length, 0);
          const gone = first.hunks.length - sheet.hunks.length;
          if (gone === 0) {
            expect(sheet.base.length + own).toBe(first.base.length + before + typed);
          }
        },
      ),
      { numRuns: 1000 },
    );
  });

  test("what was sent to it was not typed", () => {
    const follower = new Follower("one");
    follower.sent("one two");

    expect(follower.typed("one two", [{ start: 3, end: 3, text: " two" }], "one two three")).toEqual([]);
    expect(follower.typed("zone two", [{ start: 0, end: 0, text: "z" }], "one two three")).toEqual([
      { start: 0, end: 0, text: "z" },
    ]);
    expect(follower.known).toBe("zone two");
  });

  test("changes that do not lead to the text are not believed", () => {
    const follower = new Follower("one");

    expect(follower.typed("two", [{ start: 0, end: 0, text: "x" }], "one")).toEqual([
      { start: 0, end: 3, text: "two" },
    ]);
  });
});

test("places count UTF-16 and lines, and come back", () => {
  fc.assert(
    fc.property(words(20), fc.nat(20), (text, at) => {
      const offset = Math.min(at, text.length);
      expect(offsetAt(text, placeAt(text, offset))).toBe(offset);
    }),
  );
  expect(placeAt("a\n𝄞x", 4)).toEqual({ line: 1, character: 2 });
  expect(offsetAt("a\nb", { line: 7, character: 3 })).toBe(3);
  expect(offsetAt("a\nb", { line: 0, character: 9 })).toBe(1);
});

test("a difference leads from one text to the other", () => {
  fc.assert(
    fc.property(words(8), words(8), (from, to) => {
      const change = difference(from, to);
      expect(change ? changed(from, change) : from).toBe(to);
    }),
  );
});

test("spans are where the hunks are shown", () => {
  fc.assert(
    fc.property(sheets, (sheet) => {
      const text = shown(sheet);
      expect(spans(sheet).map((it) => text.slice(it.start, it.end))).toEqual(sheet.hunks.map((it) => it.text));
    }),
  );
});

test("all line ends are one", () => {
  expect(unified("a\r\nb\rc\nd")).toBe("a\nb\nc\nd");
});
