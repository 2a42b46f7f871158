// What the chat shows of the events that the server tells; those of whole turns were recorded from the real one.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Event, EventRecord, Review } from "../src/protocol";
import { applyPatch } from "../src/session/patches";
import { emptyPage, type Item, type ToolItem } from "../src/session/state";
import { Transcript } from "../src/session/transcript";
import { recorded } from "./chat-fakes";

function told(events: Event[], turnId = "t"): Transcript {
  const transcript = new Transcript();
  for (const event of events) transcript.take({ seq: 0, turnId, sessionId: "s", agentId: "main", event });
  return transcript;
}

function after(records: EventRecord[]): Transcript {
  const transcript = new Transcript();
  for (const record of records) transcript.take(record);
  return transcript;
}

const STARTED: Event = { kind: "turnStarted", mode: "ask_mode", model: "m", text: "Why?" };
const kinds = (items: readonly Item[] = []) => items.map((it) => it.kind);
const only = (transcript: Transcript) => transcript.state.turns[0] ?? { head: undefined, items: [] };
const texts = (transcript: Transcript) => only(transcript).items.flatMap((it) => (it.kind === "text" ? [it.text] : []));

describe("recorded turns", () => {
  it("shows an answer with what was thought and read before it", () => {
    const { turns, head } = after(recorded("ask")).state;
    expect(turns).toHaveLength(1);
    expect(turns[0]?.head).toMatchObject({ said: "What does greet do?", mode: "ask_mode", status: "ended", number: 0 });
    expect(kinds(turns[0]?.items)).toEqual(["thinking", "text", "tool", "text"]);
    expect(turns[0]?.items.at(-1)).toMatchObject({ isDone: true, text: expect.stringContaining("```python") });
    expect(turns[0]?.items[2]).toMatchObject({ name: "Read", status: "success", result: "greet.py 1-2" });
    expect(head).toMatchObject({ running: undefined, activity: "idle" });
  });

  it("shows todos, the review, the diff and the command of an edit", () => {
    const turn = only(after(recorded("edit")));
    expect(kinds(turn.items)).toEqual(["tool", "todos", "tool", "review", "tool", "question", "text"]);
    expect(turn.items[3]).toMatchObject({ isOpen: false, files: [{ accepted: 1, pending: 0 }] });
    expect(turn.items[2]).toMatchObject({ added: 1, removed: 1, diff: expect.stringContaining("+    print('hello") });
    expect(turn.items[4]).toMatchObject({ command: "python3 -c 'print(1)'", progress: "1\n", title: "Try it" });
    expect(turn.head).toMatchObject({ changed: ["file:///project/greet.py"] });
  });

  it("nests what a helper does", () => {
    const turn = only(after(recorded("helper")));
    const helper = turn.items.find((it) => it.kind === "helper");
    expect(helper).toMatchObject({ id: "helper/ask-1", status: "completed", summary: "There is one file." });
    expect(turn.items.filter((it) => it.agentId === "ask-1").map((it) => it.kind)).toEqual(["tool", "text"]);
    expect(turn.items.some((it) => it.kind === "tool" && it.name === "AgentTool")).toBe(false);
  });

  it("says why a turn failed", () => {
    expect(only(after(recorded("failed"))).head).toMatchObject({
      reason: "failed",
      detail: expect.stringContaining("no such model"),
    });
  });
});

it("knows the user's own commands from those of the model", () => {
  const ran: Event = { kind: "toolStarted", callId: "c", name: "ExecuteCommand", arguments: {}, description: "run ls" };
  expect(only(told([{ ...STARTED, text: "!ls" }, ran])).items).toMatchObject([{ isOwn: true }]);
  expect(only(told([STARTED, ran])).items[0]).not.toHaveProperty("isOwn");
});

describe("streams", () => {
  it("takes back what a failed attempt has shown, and no more", () => {
    const transcript = told([
      STARTED,
      { kind: "textStreamed", text: "kept" },
      { kind: "messageFinished", text: "kept", toolCalls: 1 },
      { kind: "thinkingStreamed", text: "hm" },
      { kind: "textStreamed", text: "half a sen" },
      { kind: "streamRolledBack" },
      { kind: "textStreamed", text: "again" },
    ]);
    expect(texts(transcript)).toEqual(["kept", "again"]);
    expect(kinds(only(transcript).items)).toEqual(["text", "text"]);
  });

  it("shows an answer that was not streamed", () => {
    expect(texts(told([STARTED, { kind: "messageFinished", text: "All at once", toolCalls: 0 }]))).toEqual([
      "All at once",
    ]);
  });

  it("joins what has grown since the last time", () => {
    const transcript = told([STARTED, { kind: "textStreamed", text: "a" }]);
    transcript.takeChanges();
    for (const text of ["b", "c"]) {
      transcript.take({ seq: 0, turnId: "t", sessionId: "s", agentId: "main", event: { kind: "textStreamed", text } });
    }
    expect(transcript.takeChanges()).toEqual([{ kind: "grow", turnId: "t", itemId: "t/main/text/0", text: "bc" }]);
  });
});

it("leaves nothing running when a turn has ended", () => {
  const transcript = told([
    STARTED,
    { kind: "toolStarted", callId: "c", name: "Read", arguments: {}, description: "read" },
    { kind: "subagentStarted", agentId: "h", description: "help", mode: "ask_mode" },
    { kind: "textStreamed", text: "un" },
  ]);
  transcript.ask({ questionId: "q", kind: "question", title: "Really?" });
  transcript.lose("t", "crashed");
  const [tool, helper, text, question] = only(transcript).items;
  expect(tool).toMatchObject({ status: "cancelled" });
  expect(helper).toMatchObject({ status: "cancelled" });
  expect(text).toMatchObject({ isDone: true });
  expect(question).toMatchObject({ answer: "gone" });
  expect(transcript.state.head.running).toBeUndefined();
});

it("tells of a command that went on after its turn", () => {
  const transcript = told([
    STARTED,
    { kind: "toolStarted", callId: "c", name: "ExecuteCommand", arguments: { command: "serve" }, description: "serve" },
    { kind: "toolFinished", callId: "c", name: "ExecuteCommand", status: "success", description: "in the background" },
    {
      kind: "backgroundFinished",
      callId: "c",
      backgroundId: "b",
      command: "serve",
      description: "serve",
      status: "exited",
      message: "exit code 3",
      log: "",
      exitCode: 3,
    },
  ]);
  expect(only(transcript).items[0] as ToolItem).toMatchObject({ status: "error", result: "exit code 3" });
});

const some = <T extends Event>(event: T) => fc.constant<Event>(event);
const anyEvent: fc.Arbitrary<Event> = fc.oneof(
  some(STARTED),
  fc.string().map((text): Event => ({ kind: "textStreamed", text })),
  fc.string().map((text): Event => ({ kind: "thinkingStreamed", text })),
  some({ kind: "streamRolledBack" }),
  fc.string().map((text): Event => ({ kind: "messageFinished", text, toolCalls: 0 })),
  fc
    .constantFrom("a", "b")
    .map((callId): Event => ({ kind: "toolStarted", callId, name: "Read", arguments: {}, description: "r" })),
  fc.constantFrom("a", "b").map((callId): Event => ({ kind: "toolProgress", callId, text: "…" })),
  fc
    .constantFrom("a", "b", "c")
    .map((callId): Event => ({ kind: "toolFinished", callId, name: "Read", status: "success", description: "d" })),
  some({ kind: "todosChanged", todos: [{ id: "1", content: "x", status: "pending" }] }),
  some({ kind: "subagentStarted", agentId: "h", description: "help", mode: "ask_mode" }),
  some({ kind: "subagentFinished", agentId: "h", status: "completed", summary: "ok" }),
  some({ kind: "usageChanged", usage: { costUsd: 1, contextTokens: 5, contextLimit: 10 } }),
  some({ kind: "notice", level: "warning", message: "hm" }),
  some({ kind: "modelChanged", selected: "a", running: "b" }),
  some({ kind: "compacted", status: "succeeded", before: 10, after: 1 }),
  some({ kind: "activityChanged", activity: "executing" }),
  fc.constantFrom("t1", "t2").map(
    (turnId): Event => ({
      kind: "turnFinished",
      outcome: { turnId, sessionId: "s", mode: "ask_mode", reason: "end_turn", answer: "done" },
    }),
  ),
);
const anyStep = fc.record({
  event: anyEvent,
  turnId: fc.constantFrom("", "t1", "t2"),
  agentId: fc.constantFrom("main", "h"),
  isShown: fc.boolean(),
});

it("says with patches what the whole state says", () => {
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 60 }), (steps) => {
      const transcript = new Transcript();
      const page = emptyPage();
      const show = () => {
        for (const patch of transcript.takeChanges()) applyPatch(page, structuredClone(patch));
      };
      for (const { isShown, event, turnId, agentId } of steps) {
        transcript.take({ seq: 0, sessionId: "s", turnId, agentId, event });
        if (isShown) show();
      }
      show();
      expect(page).toEqual({ ...emptyPage(), ...transcript.state });
    }),
  );
});

describe("a review", () => {
  const hunk = (id: string) => ({
    ...{ id, oldText: "", newText: "x", reason: "" },
    range: { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } },
  });
  const file = { uri: "file:///w/a.py", operation: "edit", baseHash: "", proposedText: "" } as const;
  const files = [{ ...file, hunks: [hunk("1"), hunk("2")] }];
  const proposal: Review = { proposalId: "p", turnId: "t", sessionId: "s", reason: "", files };
  const card = (transcript: Transcript) => only(transcript).items.at(-1);

  it("waits on when its turn has ended, whoever decides on it", () => {
    const transcript = told([STARTED, { kind: "reviewOpened", proposal }]);
    expect(card(transcript)).toMatchObject({ isOpen: true, waits: false });
    transcript.lose("t", "cancelled");
    const accepted = { ...hunk("1"), state: "accepted" as const };
    const changed: Event = { kind: "reviewChanged", proposalId: "p", hunks: [accepted] };
    transcript.take({ seq: 0, turnId: "t", sessionId: "s", agentId: "main", event: changed });

    expect(card(transcript)).toMatchObject({ isOpen: true, waits: true });
    expect(card(transcript)).toMatchObject({ files: [{ pending: 1, accepted: 1 }] });
    expect(transcript.turnOfReview("p")).toBe("t");
    transcript.setHead({ sessionId: "s" });
    transcript.setReviews([proposal]);
    expect(card(transcript)).toMatchObject({ files: [{ pending: 2 }] });
    transcript.setReviews([]);
    expect(card(transcript)).toMatchObject({ isOpen: false });
  });

  it("that is older than the window is shown in its session", () => {
    const transcript = new Transcript();
    transcript.setHead({ sessionId: "s" });
    transcript.setReviews([proposal, { ...proposal, proposalId: "q", sessionId: "other" }]);

    expect(transcript.state.turns).toHaveLength(1);
    expect(only(transcript).items).toMatchObject([{ id: "p", isOpen: true, waits: true, files: [{ pending: 2 }] }]);
  });
});
