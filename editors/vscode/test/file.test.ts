import fc from "fast-check";
import { expect, test, vi } from "vitest";
import type { TextDocument } from "vscode";
import type { ReviewFile, ReviewHunk } from "../src/protocol";
import { FileUnderReview } from "../src/review/file";
import type { Pen } from "../src/review/side";
import { type Change, changed, offsetAt, placeAt, shown, unified } from "../src/review/texts";
import { isInDocument } from "../src/session/reviews";
import { BASE, FakeDocument, hunk } from "./review-fakes";

vi.setConfig({ testTimeout: 60_000 });

class Screen {
  readonly real: FakeDocument;
  readonly proposed: FakeDocument;
  readonly file: FileUnderReview;
  #waiting: (() => void)[] = [];
  refuses = false;

  constructor(
    text: string,
    readonly hunks: ReviewHunk[],
    eol = 1,
  ) {
    this.real = new FakeDocument(text, eol);
    const pen: Pen = {
      edit: (document, before, change) => this.#later(() => this.#edit(document, before, change)),
      reload: (document) => void this.#later(() => this.#reload(document)),
    };
    this.file = new FileUnderReview(this.#said(), pen);
    this.file.openReal(this.real.asDocument);
    this.proposed = new FakeDocument(shown(this.file.sheet), eol);
    this.file.openProposed(this.proposed.asDocument);
    this.real.listener = (changes) => this.file.realTyped(changes);
    this.proposed.listener = (changes) => this.file.proposedTyped(changes);
  }

  #said(): ReviewFile {
    return { uri: "file:///a.txt", operation: "edit", baseHash: "", proposedText: "", hunks: this.hunks };
  }

  say(hunks: ReviewHunk[], version = this.real.version): string[] {
    this.hunks.splice(0, this.hunks.length, ...hunks);
    return this.file.update(this.#said(), version);
  }

  /** The server has a hunk in the file, or no longer has it there, and tells so. */
  apply(id: string, state: NonNullable<ReviewHunk["state"]>, text?: string): string[] {
    const hunk = this.hunks.find((it) => it.id === id) as ReviewHunk;
    const [before, after] = [textIn(hunk), textIn({ ...hunk, state, text })];
    const start = offsetAt(this.real.text, hunk.range.start);
    if (before !== after) {
      this.real.type({ start, end: start + before.length, text: after });
    }
    const grown = after.length - before.length;
    const base = this.real.text;
    const ranges = this.hunks.map((it) => {
      const old = offsetAt(changed(base, { start, end: start + after.length, text: before }), it.range.start);
      const at = it.id !== id && old > start ? old + grown : old;
      const now = it.id === id ? { ...it, state, text } : it;
      return { ...now, range: { start: placeAt(base, at), end: placeAt(base, at + textIn(now).length) } };
    });
    return this.say(ranges);
  }

  /** Decide as the user would, and the server with what it has followed. */
  decide(id: string, wanted: "accepted" | "rejected" | "pending"): void {
    const { sheet, settled } = this.file;
    for (const it of this.hunks) {
      const at = [...sheet.hunks, ...settled].find((placed) => placed.id === it.id)?.start;
      it.state = at === undefined ? "superseded" : it.state;
      it.range = { ...it.range, start: placeAt(sheet.base, at ?? 0) };
    }
    const hunk = this.hunks.find((it) => it.id === id) as ReviewHunk;
    const start = offsetAt(sheet.base, hunk.range.start);
    const isWhole = sheet.base.slice(start, start + textIn(hunk).length) === textIn(hunk);
    if (hunk.state === "superseded" || !isWhole || (hunk.state === "pending") === (wanted === "pending")) {
      return;
    }
    const decided = wanted === "accepted" ? this.file.decide(id) : { decision: wanted };
    if (decided.decision === "modify") {
      this.apply(id, "modified", decided.text);
    } else {
      this.apply(id, decided.decision === "reject" ? "rejected" : wanted);
    }
  }

  /** Let the editor do the next thing that it was told. */
  step(): boolean {
    const next = this.#waiting.shift();
    next?.();
    return next !== undefined;
  }

  async rest(): Promise<void> {
    for (let steps = 0; steps < 100; steps++) {
      await new Promise((resolve) => setImmediate(resolve));
      if (!this.step()) {
        return;
      }
    }
    throw new Error("it never comes to rest");
  }

  #later<T>(work: () => T): Promise<T> {
    return new Promise((resolve) => this.#waiting.push(() => resolve(work())));
  }

  #edit(document: TextDocument, before: string, change: Change): boolean {
    const target = (document as unknown) === this.real ? this.real : this.proposed;
    if (this.refuses) {
      return false;
    }
    const start = offsetAt(target.text, placeAt(before, change.start));
    target.type({ start, end: offsetAt(target.text, placeAt(before, change.end)), text: change.text });
    return true;
  }

  #reload(document: TextDocument): void {
    const target = document as unknown as FakeDocument;
    if (!target.isDirty) {
      target.type({ start: 0, end: target.text.length, text: unified(this.file.proposed) }, false);
    }
  }
}

function textIn(hunk: ReviewHunk): string {
  return isInDocument(hunk) ? unified(hunk.text ?? hunk.newText) : hunk.oldText;
}

const screen = (eol = 1) => new Screen(BASE, [hunk("a", "two", "two", "TWO"), hunk("b", "four", "", "new\n")], eol);

test("what the user makes of a hunk goes with their decision, in the file's line ends", () => {
  const it = screen(2);
  const at = it.proposed.find("new") + 3;
  it.proposed.type({ start: at, end: at, text: "\nmore" });

  expect(it.file.decide("a")).toEqual({ decision: "accept" });
  expect(it.file.decide("b")).toEqual({ decision: "modify", text: "new\r\nmore\r\n" });
  expect(it.file.own.unused).toEqual([]);
  expect(it.real.text).toBe(BASE);
});

test("a hunk that was undone on the right is not wanted", () => {
  const it = screen();
  const at = it.proposed.find("TWO");
  it.proposed.type({ start: at, end: at + 3, text: "two" });

  expect(it.file.decide("a")).toEqual({ decision: "reject" });
});

test("what is typed beside the hunks is typed into the file", async () => {
  const it = screen();
  it.proposed.type({ start: 0, end: 0, text: "z" });
  it.proposed.type({ start: 1, end: 1, text: "y" });
  const arrived = it.file.arrived();
  await it.rest();
  await arrived;

  expect(it.real.text).toBe(`zy${BASE}`);
  expect(it.proposed.text).toBe("zyone\nTWO\nthree\nnew\nfour\n");
});

test("what is typed has arrived when all of it has", async () => {
  const it = screen();
  it.proposed.type({ start: 0, end: 0, text: "z" });
  it.proposed.type({ start: 1, end: 1, text: "y" });
  let found = "";
  void it.file.arrived().then(() => {
    found = it.real.text;
  });
  await it.rest();

  expect(found).toBe(`zy${BASE}`);
});

test("nobody waits for what no longer arrives, and words for what was not decided are kept to the end", async () => {
  const it = screen();
  it.proposed.type({ start: 0, end: 0, text: "z" });
  const arrived = it.file.arrived();
  it.file.own.settle(["b"]);
  it.file.closeReal();
  await arrived;
  const at = it.proposed.find("TWO");
  it.proposed.type({ start: at, end: at, text: "my " });

  expect(it.file.own.unused).toEqual(["my TWO"]);
});

test("a file that cannot be edited keeps its text, and the right follows", async () => {
  const it = screen();
  it.refuses = true;
  it.proposed.type({ start: 0, end: 0, text: "z" }, false);
  await it.rest();

  expect(shown(it.file.sheet)).toBe("one\nTWO\nthree\nnew\nfour\n");
  expect(it.real.text).toBe(BASE);
});

test("what is accepted is on both sides at once, what is rejected on none, and what was typed for the rest stays", async () => {
  const it = screen();
  const at = it.proposed.find("new");
  it.proposed.type({ start: at, end: at, text: "my " });
  const before = it.proposed.text;
  it.file.decide("a");
  expect(it.apply("a", "accepted")).toEqual([]);
  await it.rest();

  expect(it.real.text).toBe("one\nTWO\nthree\nfour\n");
  expect(it.proposed.text).toBe(before);
  expect(it.file.layout.of("a")).toEqual({ real: [1, 1], proposed: [1, 1] });
  expect(it.file.decide("b")).toEqual({ decision: "modify", text: "my new\n" });

  it.apply("b", "rejected");
  await it.rest();
  expect([it.real.text, it.proposed.text]).toEqual(["one\nTWO\nthree\nfour\n", "one\nTWO\nthree\nfour\n"]);
  expect(it.file.layout.of("b")?.proposed).toEqual([3, 3]);
});

test("what is accepted and not done yet is shown as it will be", async () => {
  const it = screen();
  const reloads = vi.spyOn(it.proposed, "type");
  it.file.decide("a");
  it.file.decide("b");
  it.say(it.hunks.map((hunk) => ({ ...hunk, state: "accepted" })));
  expect(it.file.proposed).toBe("one\nTWO\nthree\nnew\nfour\n");
  it.hunks.forEach((hunk) => {
    hunk.state = "pending";
  });
  it.apply("a", "accepted");
  it.apply("b", "accepted");
  await it.rest();

  expect(it.real.text).toBe(it.proposed.text);
  expect(reloads).not.toHaveBeenCalled();
});

test("what was unsaved in the window before is the user's own again", () => {
  const it = screen();
  const kept = new FakeDocument("one\nmy TWO\nthree\nmy new\nfour\n");
  kept.isDirty = true;
  expect(it.file.openProposed(kept.asDocument)).toEqual([]);
  expect(it.file.decide("a")).toEqual({ decision: "modify", text: "my TWO" });
  expect(it.file.decide("b")).toEqual({ decision: "modify", text: "my new\n" });

  kept.text = "another text\n";
  expect(it.file.openProposed(kept.asDocument)).toEqual(["another text\n"]);
});

test("lines that are added come once, and what is typed into them afterwards is an edit of the file", async () => {
  const it = screen();
  it.file.decide("b");
  it.apply("b", "accepted");
  expect(it.file.proposed).toBe("one\nTWO\nthree\nnew\nfour\n");
  it.proposed.type({ start: it.proposed.find("new"), end: it.proposed.find("new"), text: "re" });
  await it.rest();

  expect(it.real.text).toBe("one\ntwo\nthree\nrenew\nfour\n");
  expect(it.proposed.text).toBe("one\nTWO\nthree\nrenew\nfour\n");
});

test("what is reopened waits again, with what the user had made of it", async () => {
  const it = screen();
  const at = it.proposed.find("TWO");
  it.proposed.type({ start: at, end: at, text: "my " });
  it.file.decide("a");
  it.apply("a", "modified", "my TWO");
  await it.rest();
  expect(it.real.text).toBe("one\nmy TWO\nthree\nfour\n");

  const { version } = it.proposed;
  it.apply("a", "pending");
  await it.rest();
  expect(it.proposed.version).toBe(version);
  expect(it.real.text).toBe(BASE);
  expect(it.proposed.text).toBe("one\nmy TWO\nthree\nnew\nfour\n");
  expect(it.file.own.unused).toEqual(["my TWO"]);
  expect(it.file.decide("a")).toEqual({ decision: "modify", text: "my TWO" });
});

test("what goes with the text around it does not wait again, whatever is typed there", async () => {
  const it = screen();
  it.apply("b", "accepted");
  await it.rest();
  it.real.type({ start: it.real.find("three"), end: it.real.find("four"), text: "" });
  it.real.type({ start: it.real.find("four"), end: it.real.find("four"), text: "typed\n" });
  await it.rest();

  expect(it.real.text).toBe("one\ntwo\ntyped\nfour\n");
  expect(it.proposed.text).toBe("one\nTWO\ntyped\nfour\n");
});

test("what was decided before the window was opened is known, and can be reopened", () => {
  const own = { ...hunk("a", "two", "two", "TWO"), state: "modified" as const, text: "mine" };
  const it = new Screen(BASE.replace("two", "mine"), [own]);
  expect(it.proposed.text).toBe(it.real.text);
  it.apply("a", "pending");

  expect(it.real.text).toBe(BASE);
  expect(it.file.decide("a")).toEqual({ decision: "modify", text: "mine" });
});

test("words for a hunk that somebody else decided come back", () => {
  const it = screen();
  const at = it.proposed.find("TWO");
  it.proposed.type({ start: at, end: at, text: "my " });
  const [a, b] = it.hunks as [ReviewHunk, ReviewHunk];

  expect(it.say([{ ...a, state: "superseded" }, b])).toEqual(["my TWO"]);
  expect(shown(it.file.sheet)).toBe("one\ntwo\nthree\nnew\nfour\n");
});

test("what was not saved is gone with the tab, what was saved is not", () => {
  const it = screen();
  const at = it.proposed.find("TWO");
  it.proposed.type({ start: at, end: at, text: "kept " });
  it.file.own.keep();
  it.proposed.type({ start: at, end: at, text: "lost " });
  it.file.closeProposed();

  expect(it.file.decide("a")).toEqual({ decision: "modify", text: "kept TWO" });
});

test("news of an older text move nothing", () => {
  const it = screen();
  it.real.type({ start: 0, end: 0, text: "zero\n" });
  const [a, b] = it.hunks as [ReviewHunk, ReviewHunk];
  it.say([a, { ...b, state: "rejected" }], 1);

  expect(shown(it.file.sheet)).toBe("zero\none\nTWO\nthree\nfour\n");
});

test("a new file is all its hunk's, and a file that goes is shown as empty", () => {
  const pen: Pen = { edit: async () => true, reload: () => {} };
  const file = (operation: ReviewFile["operation"], it: ReviewHunk): ReviewFile => ({
    ...{ uri: "file:///n.txt", operation, baseHash: "", proposedText: it.newText },
    hunks: [it],
  });
  const created = new FileUnderReview(file("create", hunk("a", "", "", "one\r\n")), pen);
  const deleted = new FileUnderReview(file("delete", hunk("a", "", BASE, "")), pen);
  const document = new FakeDocument(BASE);
  deleted.openReal(document.asDocument);
  document.listener = (changes) => deleted.realTyped(changes);
  document.type({ start: 0, end: 3, text: "1" });

  expect(created.proposed).toBe("one\r\n");
  expect(deleted.proposed).toBe("");
  expect([created.isEditable, deleted.isEditable]).toEqual([true, false]);
});

test("whoever types where, and whatever is late, both sides agree in the end", async () => {
  const decision = fc.option(
    fc.tuple(fc.constantFrom("a", "b"), fc.constantFrom("accepted", "rejected", "pending" as const)),
  );
  const key = fc.record({ isReal: fc.boolean(), at: fc.nat(), removed: fc.nat(2), steps: fc.nat(2), decision });
  await fc.assert(
    fc.asyncProperty(fc.array(key, { maxLength: 8 }), fc.boolean(), async (keys, isSaved) => {
      const it = screen();
      for (const [index, { isReal, at, removed, steps, decision }] of keys.entries()) {
        const document = isReal ? it.real : it.proposed;
        const start = at % (document.text.length + 1);
        document.type({ start, end: Math.min(start + removed, document.text.length), text: `${index}` });
        if (isSaved) {
          it.proposed.isDirty = false;
        }
        if (decision && it.real.text === it.file.sheet.base) {
          it.decide(...decision);
        }
        for (let step = 0; step < steps; step++) {
          it.step();
          await Promise.resolve();
        }
      }
      await it.rest();

      expect(it.file.sheet.base).toBe(it.real.text);
      expect(shown(it.file.sheet)).toBe(it.proposed.text);
    }),
    { numRuns: 300 },
  );
});
