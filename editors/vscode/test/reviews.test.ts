import { expect, test } from "vitest";
import type { Review, ReviewHunk } from "../src/protocol";
import {
  decisionOn,
  isDecided,
  isInDocument,
  nameOf,
  oneLine,
  Reviews,
  sizeOf,
  summary,
  titleOf,
} from "../src/review/reviews";

const hunk = (id: string, state: ReviewHunk["state"] = "pending"): ReviewHunk => ({
  id,
  range: { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } },
  oldText: "",
  newText: "x\n",
  reason: "because",
  state,
});

const review = (...files: ReviewHunk[][]): Review => ({
  proposalId: "p",
  turnId: "t",
  reason: "",
  files: files.map((hunks, index) => ({
    uri: `file:///w/${index}.py`,
    operation: "edit",
    baseHash: "",
    proposedText: "",
    hunks,
  })),
});

test("a review is opened once, follows what the server says, and is closed", () => {
  const reviews = new Reviews();
  const first = review([hunk("a"), hunk("b")], [hunk("c")]);

  expect(reviews.open(first)).toEqual(first);
  expect(reviews.open(first)).toBeUndefined();
  expect(summary(reviews.pending)).toBe("3 changes in 2 files");

  reviews.change({ kind: "reviewChanged", proposalId: "p", hunks: [hunk("a", "accepted"), hunk("c", "superseded")] });
  expect(reviews.pending.map((it) => it.hunk.id)).toEqual(["b"]);
  expect(summary(reviews.pending)).toBe("1 change");
  expect(first.files[0]?.hunks[0]?.state).toBe("pending");

  expect(reviews.close("p")?.proposalId).toBe("p");
  expect(reviews.close("p")).toBeUndefined();
  expect(reviews.change({ kind: "reviewChanged", proposalId: "p", hunks: [] })).toBeUndefined();
  expect(reviews.pending).toEqual([]);
});

test("what is decided says so, and can be open again", () => {
  const states = ["pending", "accepted", "modified", "rejected", "superseded"] as const;

  expect(states.filter((state) => isDecided(hunk("a", state)))).toEqual(["accepted", "modified", "rejected"]);
  expect(states.filter((state) => isInDocument({ state }))).toEqual(["accepted", "modified"]);
  expect(states.map((state) => decisionOn(hunk("a", state)))).toEqual([
    ...["", "Accepted", "Accepted with your text", "Rejected", ""],
  ]);
});

test("files are named as people know them", () => {
  const [file] = review([hunk("a")]).files;

  expect(nameOf("file:///w/a%20b/c%3Ad.py")).toBe("c:d.py");
  expect(file && titleOf(file)).toBe("0.py (Odin)");
  expect(file && titleOf({ ...file, operation: "create" })).toBe("0.py (Odin: new file)");
  expect(file && titleOf({ ...file, operation: "delete" })).toBe("0.py (Odin: delete)");
  expect(file && titleOf({ ...file, operation: "rename", newUri: "file:///w/1.py" })).toBe(
    "0.py → 1.py (Odin: rename)",
  );
});

test("sizes are those of a diff, and words of a model are one plain line", () => {
  expect(sizeOf([{ ...hunk("a"), oldText: "1\n2", newText: "1\n2\n3\n" }])).toBe("+3 −2");
  expect(sizeOf([{ ...hunk("a"), oldText: "1\n", newText: "" }])).toBe("−1");
  expect(sizeOf([hunk("a"), { ...hunk("b"), oldText: "1\n" }])).toBe("+2 −1");
  expect(oneLine(" $(bug) two\n lines ")).toBe("$ (bug) two lines");
  expect(oneLine("x".repeat(90))).toHaveLength(80);
});
