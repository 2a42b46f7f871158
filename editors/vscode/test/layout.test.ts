import { expect, test } from "vitest";
import { Layout } from "../src/review/layout";
import type { Placed, Sheet } from "../src/review/texts";

const placed = (id: string, start: number, old: string, text: string): Placed => ({
  id,
  start,
  old,
  text,
});

test("hunks are found by their lines on both sides", () => {
  const base = "one\ntwo\nthree\nfour";
  const hunks = [
    placed("in", 4, "two\nthree\n", "2\n"),
    placed("new", 14, "", "a\nb\n"),
    placed("end", 14, "four", ""),
  ];
  const layout = new Layout({ base, hunks }, [{ id: "decided", start: 14, end: 18 }]);

  expect(layout.proposed.text).toBe("one\n2\na\nb\n");
  expect(layout.of("in")).toEqual({ real: [1, 2], proposed: [1, 1] });
  expect(layout.of("new")).toEqual({ real: [3, 3], proposed: [2, 3] });
  expect(layout.of("end")).toEqual({ real: [3, 3], proposed: [4, 4] });
  expect(layout.of("decided")).toEqual({ real: [3, 3], proposed: [4, 4] });
  expect(layout.of("none")).toBeUndefined();
  expect([layout.real.line(2), layout.proposed.line(1), layout.proposed.line(4)]).toEqual(["three", "2", ""]);
});

test("the places of hundreds of hunks cost little more than that of one", () => {
  const base = Array.from({ length: 20_000 }, (_, row) => `row ${row}\n`).join("");
  const starts = Array.from({ length: 300 }, (_, index) => base.indexOf(`row ${index * 66}\n`));
  const hunks = starts.map((start, index) => placed(`${index}`, start, "row", "line"));
  const cost = (sheet: Sheet) => {
    const began = performance.now();
    for (let times = 0; times < 10; times++) {
      const layout = new Layout({ ...sheet });
      sheet.hunks.forEach(({ id }) => {
        layout.of(id);
      });
    }
    return performance.now() - began;
  };
  cost({ base, hunks });

  expect(cost({ base, hunks })).toBeLessThan(30 * cost({ base, hunks: hunks.slice(-1) }));
});
