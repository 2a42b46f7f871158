import { expect, test } from "vitest";
import type { Receipt } from "../src/protocol";
import { firstAccepted, isAcceptedIn, lossIn } from "../src/review/outcomes";
import { hunk, ReviewOfOne } from "./review-fakes";

/** It stands in the text. */
const made = (id: string, text: string, state: "accepted" | "modified") => ({
  ...hunk(id, text, text, ""),
  ...{ oldText: "", newText: text, state },
});
const HUNKS = [made("a", "two", "accepted"), made("b", "four", "modified")];
const receipt = (hunkId: string, state: Receipt["state"], reason?: string): Receipt => ({
  hunkId,
  uri: "file:///w/a.txt",
  state,
  ...(reason ? { reason } : {}),
});

test("the first place that has changed is where the first accepted hunk begins", () => {
  const { texts, file } = new ReviewOfOne(HUNKS).shown;

  expect(firstAccepted(texts, [receipt("b", "accepted"), receipt("a", "modified")])).toEqual({ line: 1, character: 0 });
  expect(firstAccepted(texts, [receipt("a", "rejected"), receipt("b", "accepted")])).toEqual({ line: 3, character: 0 });
  expect(firstAccepted(texts, [receipt("a", "rejected"), receipt("b", "superseded")])).toBeUndefined();
  expect(isAcceptedIn(file, [receipt("a", "rejected"), receipt("b", "modified")])).toBe(true);
  expect(isAcceptedIn(file, [receipt("a", "rejected"), receipt("other", "accepted")])).toBe(false);
});

test("the place is that of the text as it is now, wherever it has moved to", () => {
  const it = new ReviewOfOne(HUNKS);
  it.real.listener = (changes) => it.shown.texts.realTyped(changes);
  it.real.type({ start: 0, end: 0, text: "zero\n" });

  expect(firstAccepted(it.shown.texts, [receipt("a", "accepted")])).toEqual({ line: 2, character: 0 });
});

test("what could not be applied is told, with what the user wrote for it", () => {
  const { file } = new ReviewOfOne(HUNKS).shown;
  const failed = [receipt("a", "superseded", "the file is read-only"), receipt("other", "superseded", "else")];

  expect(lossIn(file, [], failed)).toEqual({ why: "1 change in a.txt not applied: the file is read-only.", words: [] });
  expect(lossIn(file, ["mine"], failed)?.words).toEqual(["mine"]);
});

test("what the user typed over is no news, but words that were not used are", () => {
  const { file } = new ReviewOfOne(HUNKS).shown;
  const typedOver = [receipt("a", "superseded", "the user typed there meanwhile")];

  expect(lossIn(file, [], typedOver)).toBeUndefined();
  expect(lossIn(file, [], [receipt("a", "accepted")])).toBeUndefined();
  expect(lossIn(file, ["mine"], typedOver)).toEqual({
    why: "What you wrote for a change in a.txt was not used: the review has ended.",
    words: ["mine"],
  });
});
