import { expect, test } from "vitest";
import { CompactionWatch, compactedWords } from "../src/compaction";
import type { Event } from "../src/protocol";
import { FakeOdin } from "./chat-fakes";

const SAME = { before: 10, after: 10 };

test("a compaction tells how it has ended", () => {
  expect(compactedWords({ before: 12_000, after: 900 }, false)).toBe(
    "Odin: Compacted the session from 12,000 to 900 tokens.",
  );
  expect(compactedWords(SAME, false)).toBe("Odin: The session cannot be compacted further.");
  expect(compactedWords(SAME, true)).toBe("Odin: Compaction canceled. The session is unchanged.");
});

test.each<[string, Event, boolean]>([
  ["t", { kind: "compacted", status: "cancelled", before: 10, after: 10 }, true],
  ["t", { kind: "compacted", status: "failed", before: 10, after: 10 }, false],
  ["another", { kind: "compacted", status: "cancelled", before: 10, after: 10 }, false],
  [
    "t",
    {
      kind: "turnFinished",
      outcome: { turnId: "t", sessionId: "s", mode: "ask_mode", reason: "interrupted", answer: "" },
    },
    true,
  ],
])("that it was cancelled is heard of turn %s in %o", (turnId, event, isCancelled) => {
  const odin = new FakeOdin();
  const watch = new CompactionWatch(odin, "t");
  odin.tell(turnId, event);
  expect(watch.isCancelled).toBe(isCancelled);
  watch.dispose();
});
