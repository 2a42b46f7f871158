// Whoever was there sees the same as whoever comes later: events as they were told, and what was kept of them.

import { describe, expect, it } from "vitest";
import type { Event, EventPage, EventRecord } from "../src/protocol";
import type { ChatState } from "../src/session/state";
import { Transcript } from "../src/session/transcript";
import { recorded, recordedPage } from "./chat-fakes";

const NAMES = ["ask", "edit", "failed", "helper", "session"];
const PASSING = new Set([
  ...["turnQueued", "activityChanged", "textStreamed", "thinkingStreamed", "streamRolledBack", "toolProgress"],
  ...["argumentsStreamed", "toolQueued", "requestStarted", "requestProgress", "thinkingStarted", "thinkingFinished"],
  ...["modelStatusChanged", "sessionSwitchStarted", "sessionRestored", "sessionRenamed"],
]);

const isKept = ({ event }: EventRecord) => !PASSING.has(event.kind);

/** Without the questions that stand for reviews: these have events of their own. */
function withoutReviewQuestions(records: readonly EventRecord[]): EventRecord[] {
  const reviews = new Set(
    records.flatMap(({ event }) => (event.kind === "reviewOpened" ? [event.proposal.proposalId] : [])),
  );
  return records.filter(({ event }) => {
    if (event.kind === "questionAsked") return event.question.kind !== "review";
    return event.kind !== "questionAnswered" || !reviews.has(event.questionId);
  });
}

/** What is done just now is not kept, and which model comes next is no matter of the past. */
function lasting({ head, turns }: ChatState): ChatState {
  const passing = head.running ? { activity: "idle" as const, detail: "" } : {};
  return structuredClone({ head: { ...head, ...passing, model: "" }, turns });
}

function pageOf(events: EventRecord[], more: Partial<EventPage> = {}): EventPage {
  return { events, earlierTurns: 0, ...more };
}

function told(records: readonly EventRecord[]): Transcript {
  const transcript = new Transcript();
  for (const record of records) transcript.take(record);
  return transcript;
}

function read(page: EventPage): Transcript {
  const transcript = new Transcript();
  transcript.read(page);
  return transcript;
}

/** Which message or tool has begun and not ended, after an event. */
class UnderWay {
  readonly #open = new Set<string>();

  get isNothing(): boolean {
    return this.#open.size === 0;
  }

  take({ agentId, event }: EventRecord): void {
    const message = `message ${agentId}`;
    if (event.kind.endsWith("Streamed")) this.#open.add(message);
    else if (event.kind === "messageFinished" || event.kind === "streamRolledBack") this.#open.delete(message);
    else if (event.kind === "toolQueued" || event.kind === "toolStarted") {
      this.#open.add(`tool ${agentId} ${event.callId}`);
    } else if (event.kind === "toolFinished") this.#open.delete(`tool ${agentId} ${event.callId}`);
  }
}

describe.each(NAMES)("the session “%s”", (name) => {
  const live = recorded(name);
  const page = recordedPage(name);

  it("is the same from what is kept of it", () => {
    expect(lasting(read(page).state)).toEqual(lasting(told(live).state));
  });

  it("is the same at every moment at which nothing is under way", () => {
    const transcript = new Transcript();
    const kept: EventRecord[] = [];
    const underWay = new UnderWay();
    let compared = 0;
    for (const record of withoutReviewQuestions(live)) {
      transcript.take(record);
      underWay.take(record);
      const next = page.events[kept.length];
      // Of reviews only what was decided is kept, not what has moved.
      if (!isKept(record) || (record.event.kind === "reviewChanged" && next?.event.kind !== "reviewChanged")) continue;
      expect(next?.event.kind).toBe(record.event.kind);
      if (next) kept.push(next);
      if (!underWay.isNothing) continue;
      compared += 1;
      expect(lasting(read(pageOf(kept)).state)).toEqual(lasting(transcript.state));
    }
    expect(compared).toBeGreaterThan(1);
  });

  it("is the same when its earlier half is read later, in the middle of what goes on", () => {
    for (const cut of live.keys()) {
      const first = live.slice(0, cut).findLastIndex(({ event }) => event.kind === "turnStarted");
      if (first < 0) continue;
      const transcript = new Transcript();
      transcript.read(pageOf(live.slice(first, cut).filter(isKept), { earlierTurns: 1, before: 7 }));
      for (const record of live.slice(cut)) transcript.take(record);
      expect(transcript.state.head.hasEarlier).toBe(true);
      transcript.readEarlier(pageOf(live.slice(0, first).filter(isKept)));
      expect(lasting(transcript.state)).toEqual(lasting(told(live).state));
    }
  });
});

const record = (event: Event, turnId = "t", agentId = "main"): EventRecord => ({
  ...{ seq: 0, turnId, sessionId: "s", agentId, event },
});
const STARTED: Event = { kind: "turnStarted", mode: "edit_mode", model: "m", text: "Do it" };
const finished = (more: Partial<Extract<Event, { kind: "turnFinished" }>["outcome"]> = {}): Event => ({
  kind: "turnFinished",
  outcome: {
    ...{ turnId: "t", sessionId: "s", mode: "edit_mode", reason: "end_turn", answer: "", durationMs: 10 },
    ...more,
  },
});

describe("of what is kept", () => {
  it("what was sent along stays with its turn, also when that is taken up again", () => {
    const context = [{ kind: "file" as const, uri: "file:///p/a.ts" }];
    const events = [{ ...STARTED, context }, finished({ reason: "failed" }), STARTED].map((it) => record(it));
    expect(told(events).state.turns[0]?.head.context).toEqual(context);
  });

  it("a message has its thoughts first, whatever was streamed, and in the place where it ended", () => {
    const streamed: Event[] = [
      { kind: "requestStarted", step: 1, attempt: 1 },
      { kind: "textStreamed", text: "Let me " },
      { kind: "thinkingStarted" },
      { kind: "thinkingStreamed", text: "hm" },
      { kind: "requestProgress", bytes: 9, events: 1 },
      { kind: "thinkingFinished", elapsedMs: 2400 },
      { kind: "notice", level: "info", message: "meanwhile" },
      { kind: "textStreamed", text: "see." },
    ];
    const ended: Event = {
      kind: "messageFinished",
      text: "Let me see.",
      thinking: "hm",
      thinkingMs: 2400,
      toolCalls: 0,
    };
    const { turns } = told([STARTED, ...streamed, ended].map((it) => record(it))).state;
    const kept = [STARTED, { kind: "notice", level: "info", message: "meanwhile" } as const, ended];
    expect(turns).toEqual(read(pageOf(kept.map((it) => record(it)))).state.turns);
    expect(turns[0]?.items.map((it) => it.kind)).toEqual(["notice", "thinking", "text"]);
    expect(turns[0]?.items[1]).toMatchObject({ durationMs: 2400 });
  });

  it("what edits did to problems is a piece, and what a turn has left is how it ended until it goes on", () => {
    const broken = { uri: "file:///p/b.ts", line: 3, severity: "error" as const, message: "Expected 3 arguments." };
    const compared: Event[] = [
      { kind: "diagnosticsCompared", introduced: [broken], remaining: 2 },
      { kind: "diagnosticsCompared", remaining: 2, unknown: ["file:///p/c.ts"] },
      { kind: "diagnosticsCompared", fixed: [broken] },
    ];
    const events = [STARTED, ...compared, finished({ diagnostics: [broken] })].map((it) => record(it));
    const [turn] = told(events).state.turns;
    const problems = { kind: "problems", introduced: [], fixed: [], found: [] };
    expect(turn?.items).toMatchObject([
      { ...problems, introduced: [broken], remaining: 2 },
      { ...problems, fixed: [broken], remaining: 0 },
    ]);
    expect(turn?.head.left).toEqual([broken]);
    expect(told([...events, record(STARTED)]).state.turns[0]?.head.left).toBeUndefined();
  });

  it("a turn that goes on is the same turn, with what it has cost in all", () => {
    const { state } = told(
      [
        STARTED,
        finished({
          reason: "failed",
          detail: "no key",
          problem: { kind: "key" },
          usage: { costUsd: 1, inputTokens: 5 },
        }),
        STARTED,
        { kind: "usageChanged", usage: { costUsd: 0.5, inputTokens: 2, contextTokens: 9 } } as const,
        finished({ usage: { costUsd: 2, inputTokens: 10 } }),
      ].map((it) => record(it)),
    );
    expect(state.turns).toHaveLength(1);
    expect(state.turns[0]?.head).toMatchObject({ number: 0, reason: "end_turn", durationMs: 20 });
    expect(state.turns[0]?.head.detail ?? state.turns[0]?.head.problem).toBeUndefined();
    expect(state.turns[0]?.head.usage).toMatchObject({ costUsd: 3, inputTokens: 15 });
    expect(state.head).toMatchObject({ costUsd: 3, usage: { contextTokens: 9 }, running: undefined });
  });

  it("a turn that another one follows has ended, even if nobody has told", () => {
    const other: Event = { ...STARTED, text: "Something else" };
    const { turns, head } = told([record(STARTED), record(other, "u")]).state;
    expect(turns.map((it) => [it.head.status, it.head.reason])).toEqual([
      ["ended", "aborted"],
      ["running", undefined],
    ]);
    expect(head.running).toBe("u");
  });

  it("what was undone says so, with what was left and why", () => {
    const kept = [{ uri: "file:///w/a.py", reason: "it has changed since" }];
    const undone: Event = { kind: "turnUndone", restored: ["file:///w/b.py"], kept };
    const { turns } = read(pageOf([record(STARTED), record(finished()), record(undone)])).state;
    expect(turns[0]?.head.undone).toEqual({ restored: ["file:///w/b.py"], kept });
  });

  it("messages are counted with those that are not shown", () => {
    const page = pageOf([record(STARTED), record(finished()), record(STARTED, "u")], { earlierTurns: 40, before: 9 });
    expect(read(page).state.turns.map((it) => it.head.number)).toEqual([40, 41]);
  });

  it("a message that was dropped while it waited is no turn", () => {
    expect(read(pageOf([record(finished({ turnId: "q", reason: "interrupted" }), "q")])).state.turns).toEqual([]);
  });

  it("what belongs to a turn that is not shown changes nothing", () => {
    const late: Event[] = [
      { kind: "turnUndone", restored: [] },
      { kind: "reviewClosed", proposalId: "p", receipts: [] },
      { kind: "questionAnswered", questionId: "q" },
      { kind: "usageChanged", usage: {} },
    ];
    expect(read(pageOf(late.map((it) => record(it)))).state.turns).toEqual([]);
  });
});
