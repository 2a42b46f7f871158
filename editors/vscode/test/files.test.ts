import { beforeEach, expect, test } from "vitest";
import type { ReviewFile } from "../src/protocol";
import { FileUnderReview } from "../src/review/file";
import { ShownFiles } from "../src/review/files";
import { BASE, type FakeDocument, hunk, PEN, ReviewOfOne, uriOf } from "./review-fakes";

const AFTER = "one\nTWO\nthree\nnew\nfour\n";
let files: ShownFiles;
let it: ReviewOfOne;

beforeEach(() => {
  files = new ShownFiles();
  it = new ReviewOfOne([hunk("a", "two", "two", "TWO"), hunk("b", "four", "", "new\n")]);
  files.add([it.shown]);
  for (const document of [it.real, it.right]) {
    document.listener = (changes) => files.typed(document.asDocument, changes);
  }
});

const type = (document: FakeDocument, before: string, text: string) => {
  const at = document.find(before);
  document.type({ start: at, end: at, text });
};

test("a document leads to what is under review of it", () => {
  const other = new ReviewOfOne([hunk("c", "one", "one", "1")], "q");
  files.add([other.shown]);

  expect(files.reviewsOf(it.real.uri)).toEqual([it.shown, other.shown]);
  expect(files.proposedAs(other.right.uri)).toBe(other.shown);
  expect(files.proposedAs(it.real.uri)).toBeUndefined();
  expect(files.of(other.review)).toEqual([other.shown]);
  expect(files.pending.map((chosen) => chosen.hunk.id)).toEqual(["a", "b", "c"]);
  expect(files.pendingOf("q").map((chosen) => chosen.hunk.id)).toEqual(["c"]);
  expect(files.pendingOf(undefined)).toHaveLength(3);
});

test("only a review's own documents have a text here", () => {
  const left = uriOf("odin-review:/w/new.txt?p&empty");
  const created = { ...it.review.files[0], operation: "create", hunks: [hunk("c", "", "", "new\n")] } as ReviewFile;
  const texts = new FileUnderReview(created, PEN);
  files.add([{ ...it.shown, texts, left, right: uriOf("odin-review:/w/new.txt?p") }]);

  expect(files.textOf(it.right.uri)).toEqual({ text: AFTER, isEditable: true });
  expect(files.textOf(left)).toEqual({ text: "", isEditable: false });
  texts.update({ ...created, hunks: [{ ...hunk("c", "", "", "new\n"), state: "accepted" }] });
  expect(files.textOf(left)?.text).toBe("new\n");
  expect(files.textOf(uriOf("odin-review:/w/a.txt?other"))).toBeUndefined();
});

test("what is typed into either side is heard, and nothing else is", () => {
  const heard = files.typed({ ...it.real.asDocument, uri: uriOf("file:///w/b.txt") }, []);
  type(it.right, "TWO", "my ");
  type(it.real, "one", "zero\n");

  expect(heard).toBe(false);
  expect(files.typed(it.real.asDocument, [])).toBe(true);
  expect(files.textOf(it.right.uri)?.text).toBe(`zero\n${AFTER.replace("TWO", "my TWO")}`);
});

test("a tab that is closed takes what was not saved with it", () => {
  type(it.right, "TWO", "kept ");
  files.saved(it.right.uri);
  type(it.right, "kept", "lost ");
  files.closed(it.right.asDocument);

  expect(files.textOf(it.right.uri)?.text).toBe(AFTER.replace("TWO", "kept TWO"));
});

test("a document that is opened again is followed again", () => {
  files.closed(it.real.asDocument);
  type(it.real, "one", "unseen\n");
  files.opened(it.real.asDocument);

  expect(files.textOf(it.right.uri)?.text).toBe(`unseen\n${AFTER}`);
});

test("what is typed into a review that ends counts until its tab is closed", () => {
  type(it.right, "TWO", "my ");

  expect(files.end(it.review)).toEqual([it.shown]);
  expect(it.isWatched).toBe(false);
  expect([files.open, files.pending, files.reviewsOf(it.real.uri)]).toEqual([[], [], []]);
  expect(files.proposedAs(it.right.uri)).toBeUndefined();

  type(it.right, "my", "all ");
  files.saved(it.right.uri);
  files.closed(it.right.asDocument);
  expect(it.shown.texts.own.unused).toEqual(["all my TWO"]);
  expect(files.textOf(it.right.uri)?.text).toContain("all my TWO");

  files.remove([it.shown]);
  expect(files.textOf(it.right.uri)).toBeUndefined();
  expect(files.typed(it.right.asDocument, [])).toBe(false);
  expect(it.real.text).toBe(BASE);
});
