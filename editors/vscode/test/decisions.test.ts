import { beforeEach, expect, test } from "vitest";
import { Decisions } from "../src/review/decisions";
import { ShownFiles } from "../src/review/files";
import { cancellation, FakeOdin } from "./chat-fakes";
import { hunk, ReviewOfOne } from "./review-fakes";

let odin: FakeOdin;
let shown: ShownFiles;
let told: string[];
let it: ReviewOfOne;
let decisions: Decisions;

beforeEach(() => {
  odin = new FakeOdin();
  shown = new ShownFiles();
  told = [];
  it = new ReviewOfOne([hunk("a", "two", "two", "TWO"), hunk("b", "four", "", "new\n")]);
  shown.add([it.shown]);
  it.right.listener = (changes) => shown.typed(it.right.asDocument, changes);
  decisions = new Decisions(odin, [it.review], shown, (why) => told.push(why));
});

const rewrite = (before: string, text: string) => {
  const start = it.right.find(before);
  it.right.type({ start, end: start + before.length, text });
};

test("what is accepted goes as it stands on the screen, what was undone there is rejected", async () => {
  rewrite("TWO", "two");
  rewrite("new", "newer");
  await decisions.accept(shown.pending, true);

  expect(odin.asked).toEqual([
    { command: "odin.review.reject", argument: { hunkIds: ["a"] } },
    { command: "odin.review.accept", argument: { hunkIds: ["b"], texts: { b: "newer\n" } } },
  ]);
  expect(decisions.isInEditor).toBe(true);
  expect(it.shown.texts.own.unused).toEqual([]);
});

test("nothing is told of nothing", async () => {
  await decisions.accept([]);

  expect(odin.asked).toEqual([]);
});

test("a reason goes with what is rejected, if there is one", async () => {
  const [a, b] = shown.pending;
  await decisions.reject(a ? [a] : [], "too loud", true);
  await decisions.reject(b ? [b] : [], "");

  expect(odin.of("odin.review.reject")).toEqual([
    { hunkIds: ["a"], reason: "too loud" },
    { hunkIds: ["b"], reason: undefined },
  ]);
  expect(decisions.isInEditor).toBe(false);
});

test("what is decided can be reopened, and what was typed into since is told", async () => {
  await decisions.accept(shown.pending);
  expect([...decisions.latest]).toEqual(["a", "b"]);
  const uri = it.real.uri.toString();
  odin.replies["odin.review.reopen"] = async () => ({
    receipts: [
      { hunkId: "a", uri, state: "pending" },
      { hunkId: "b", uri, state: "accepted", reason: "somebody typed there" },
    ],
  });
  await decisions.reopen(shown.all, true);

  expect(odin.of("odin.review.reopen")).toEqual([{ hunkIds: ["a", "b"] }]);
  expect(told).toEqual(["a.txt is unchanged: somebody typed there."]);
});

test("a decision that the server did not hear of is none", async () => {
  rewrite("TWO", "mine");
  odin.replies["odin.review.accept"] = () => Promise.reject(new Error("it is gone"));
  await decisions.accept(shown.pending);

  expect(told).toEqual(["it is gone"]);
  expect(it.shown.texts.own.unused).toEqual(["mine"]);
});

test("the server's request is held until the review is over or nobody waits any more", async () => {
  const { token, cancel } = cancellation();
  const first = decisions.hold("p", token);
  decisions.release("p");
  const second = decisions.hold("q", token);
  cancel();

  expect(await first).toBeNull();
  expect(await second).toBeNull();
});

test("the rest of a turn is accepted in the answer to its request, else as any other", async () => {
  rewrite("new", "newer");
  const held = decisions.hold("p", cancellation().token);
  await decisions.acceptRest();
  const decided = [
    { hunkId: "a", decision: "accept" },
    { hunkId: "b", decision: "modify", text: "newer\n" },
  ];

  expect(await held).toEqual({ decisions: decided, restOfTurn: "accept" });
  expect(odin.asked).toEqual([]);

  await decisions.acceptRest();
  expect(odin.of("odin.review.accept")).toEqual([{ hunkIds: ["a", "b"], texts: { b: "newer\n" } }]);
});
