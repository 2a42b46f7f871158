import { expect, test } from "vitest";
import type { Review, ReviewHunk } from "../src/protocol";
import {
  decisionOn,
  isDecided,
  isInDocument,
  nameOf,
  OpenReviews,
  oneLine,
  pendingIn,
  sizeOf,
  summary,
  titleOf,
} from "../src/session/reviews";

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
  const reviews = new OpenReviews();
  const first = review([hunk("a"), hunk("b")], [hunk("c")]);

  const heard: unknown[] = [];
  reviews.onDidHear((news) => heard.push([news.kind, news.kind === "changed" && news.isTextLost]));

  const open = reviews.open(first);
  expect(open).toEqual(first);
  expect(reviews.open(first)).toBe(open);
  expect(reviews.size).toBe(1);

  reviews.change({ kind: "reviewChanged", proposalId: "p", hunks: [hunk("a", "accepted"), hunk("c", "superseded")] });
  expect(open.files.flatMap(pendingIn).map((it) => it.id)).toEqual(["b"]);
  expect(first.files[0]?.hunks[0]?.state).toBe("pending");

  reviews.close("p");
  reviews.close("p");
  reviews.change({ kind: "reviewChanged", proposalId: "p", hunks: [] });
  expect(reviews.size).toBe(0);
  expect(heard).toEqual([
    ["changed", true],
    ["closed", false],
  ]);
});

test("after a restart the reviews are those of the server", () => {
  const reviews = new OpenReviews();
  const of = (proposalId: string, state: ReviewHunk["state"]) => ({ ...review([hunk("a", state)]), proposalId });
  const old = reviews.open(of("old", "pending"));
  reviews.open(of("gone", "pending"));
  reviews.set([of("old", "accepted"), of("new", "pending")]);
  expect([...reviews].map((it) => it.proposalId)).toEqual(["old", "new"]);
  expect(old.files[0]?.hunks[0]?.state).toBe("accepted");
});

test("what waits is counted in files", () => {
  const of = review([hunk("a"), hunk("b")], [hunk("c")]);
  const pending = of.files.flatMap((file) => file.hunks.map((it) => ({ review: of, file, hunk: it })));
  expect(summary(pending)).toBe("3 changes in 2 files");
  expect(summary(pending.slice(0, 1))).toBe("1 change");
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
