// What is seen of a call while the model writes it.

import { expect, it } from "vitest";
import type { Event, EventRecord } from "../src/protocol";
import { seenIn } from "../src/session/drafts";
import { Transcript } from "../src/session/transcript";

const CALL = JSON.stringify({ file_path: 'a "b".py', edits: [{ old_string: "x", new_string: "é\\n\n\t“y”\u0001" }] });

it("reads any beginning of a call, whatever is cut in two", () => {
  for (let end = 0; end <= CALL.length; end++) {
    const { subject, text } = seenIn(CALL.slice(0, end));
    expect('a "b".py'.startsWith(subject)).toBe(true);
    expect("é\\n\n\t“y”\u0001".startsWith(text) || text === "x").toBe(true);
  }
  expect(seenIn(CALL)).toEqual({ subject: 'a "b".py', text: "é\\n\n\t“y”\u0001" });
  expect(seenIn('{"file_path": "a.py", "content": "x\\u00')).toEqual({ subject: "a.py", text: "x" });
});

it("shows the end of a long text only", () => {
  expect(seenIn(`{"content": "${"x".repeat(5000)}end`).text).toHaveLength(4000);
});

const START: Event = { kind: "turnStarted", mode: "edit_mode", model: "m", text: "Go" };
const piece = (text: string): Event => ({ kind: "argumentsStreamed", callId: "c", name: "EditTool", text });
const queued = (callId: string): Event => ({ kind: "toolQueued", callId, name: "Grep", description: "search" });

function told(...events: Event[]): { transcript: Transcript; items: () => unknown[] } {
  const transcript = new Transcript();
  for (const event of events) transcript.take(record(event));
  return { transcript, items: () => transcript.state.turns.flatMap((it) => it.items) };
}

function record(event: Event, agentId = "main"): EventRecord {
  return { seq: 0, turnId: "t", sessionId: "s", agentId, event };
}

it("is there while the message is, and leaves nothing behind", () => {
  const { transcript, items } = told(START, piece('{"file_path": "a.py", "new'), piece('_string": "grow'));
  expect(items()).toMatchObject([{ kind: "draft", subject: "a.py", text: "grow" }]);
  transcript.take(record({ kind: "messageFinished", text: "", toolCalls: 1 }, "helper"));
  expect(items()).toHaveLength(1);
  transcript.take(record({ kind: "messageFinished", text: "So:", toolCalls: 1 }));
  expect(items()).toMatchObject([{ kind: "text", text: "So:" }]);
});

it.each<Event>([
  { kind: "streamRolledBack" },
  {
    kind: "turnFinished",
    outcome: { turnId: "t", sessionId: "s", mode: "edit_mode", reason: "interrupted", answer: "" },
  },
])("goes with what ends it: %o", (end) => {
  expect(told(START, piece('{"file_path": "a.py"'), end).items()).toEqual([]);
});

it("waits for the others of its step, stands where it starts, and is gone if its turn never comes", () => {
  const { transcript, items } = told(START, queued("1"), queued("2"), queued("3"));
  const started: Event = { kind: "toolStarted", callId: "1", name: "Grep", arguments: {}, description: "search" };
  const refused = { callId: "3", name: "Grep", status: "error", description: "refused" } as const;
  transcript.take(record(started));
  transcript.take(record({ kind: "toolFinished", ...refused }));
  expect(items()).toMatchObject([{ status: "queued" }, { status: "running" }, { status: "error" }]);
  transcript.lose("t", "gone");
  expect(items()).toMatchObject([{ status: "cancelled" }, { status: "error" }]);
});
