import { beforeEach, expect, test } from "vitest";
import type { ReviewHunk } from "../src/protocol";
import { ShownFiles } from "../src/review/files";
import { Bookmark, nextAfter, nextBeyond, positionOf } from "../src/review/walk";
import { hunk, ReviewOfOne } from "./review-fakes";

let files: ShownFiles;
let bookmark: Bookmark;

/** Two files of one review, then one of another. */
beforeEach(() => {
  files = new ShownFiles();
  const first = new ReviewOfOne([hunk("a", "one", "one", "1"), hunk("b", "two", "two", "2")]);
  const second = new ReviewOfOne([hunk("c", "one", "one", "1"), hunk("d", "two", "two", "2")]);
  const other = new ReviewOfOne([hunk("e", "one", "one", "1")], "q");
  files.add([first.shown, { ...second.shown, review: first.review }, other.shown]);
  bookmark = new Bookmark(files);
});

const decide = (id: string, state: ReviewHunk["state"] = "accepted") => {
  const found = files.all.find((it) => it.hunk.id === id);
  if (found) {
    found.hunk.state = state;
  }
};
const after = (id: string | undefined) => nextAfter(files.all, id)?.hunk.id;

test("the next change is the next one below that waits, across files, then around", () => {
  decide("b");
  expect(after("a")).toBe("c");
  expect(after("e")).toBe("a");
  expect(after(undefined)).toBe("a");
  expect(nextAfter(files.all.toReversed(), "c")?.hunk.id).toBe("a");
  expect(nextBeyond(files.all, (it) => it.hunk.id === "d")?.hunk.id).toBe("d");

  for (const id of ["a", "c", "d"]) {
    decide(id, "rejected");
  }
  expect(after("e")).toBe("e");
  decide("e");
  expect(after("e")).toBeUndefined();
});

test("a position counts changes, and files if there are several", () => {
  const words = files.all.map((it) => positionOf(files.all, it).words);
  expect(words).toEqual([
    "1 of 4 · 1 of 2 files",
    "2 of 4 · 1 of 2 files",
    "3 of 4 · 2 of 2 files",
    "4 of 4 · 2 of 2 files",
    "1 of 1",
  ]);
});

test("the user is where the cursor is or was, else at the first change that waits", () => {
  expect(bookmark.here).toBeUndefined();
  expect(bookmark.position?.words).toBe("1 of 4 · 1 of 2 files");

  bookmark.put("c");
  expect(bookmark.here?.hunk.id).toBe("c");
  bookmark.put(undefined);
  expect(bookmark.here).toBeUndefined();
  expect(bookmark.position).toEqual({ proposalId: "p", words: "3 of 4 · 2 of 2 files" });

  decide("c");
  decide("d");
  expect(bookmark.position).toEqual({ proposalId: "q", words: "1 of 1" });
});
