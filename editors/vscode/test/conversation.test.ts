// Turns, the queue, sessions and questions, and that none of it is lost.

import { beforeEach, describe, expect, it, vi } from "vitest";
import { Conversation } from "../src/chat/conversation";
import { applyPatch } from "../src/chat/patches";
import { emptyState } from "../src/chat/state";
import type { Outcome, Question, SessionSummary, TurnRecord } from "../src/protocol";
import { cancellation, FakeOdin, FakeStore, READY, settled } from "./chat-fakes";

let odin: FakeOdin;
let store: FakeStore;
let chat: Conversation;

beforeEach(() => {
  odin = new FakeOdin();
  store = new FakeStore();
  chat = new Conversation(odin, store);
});

const QUESTION: Question = {
  questionId: "q",
  kind: "permission",
  title: "Run it?",
  command: "rm x",
  options: [
    { id: "allow_once", label: "Allow once" },
    { id: "deny", label: "Deny" },
  ],
};
const outcome = (turnId: string): Outcome => ({
  turnId,
  sessionId: "s1",
  mode: "ask_mode",
  reason: "end_turn",
  answer: "A",
});
const summary = (sessionId: string, messages: number): SessionSummary => ({
  sessionId,
  title: "Title",
  createdAt: 0,
  updatedAt: 0,
  messages,
  firstMessage: "",
  locked: false,
  uri: "",
});
const record = (turnId: string, body: string, reason: TurnRecord["reason"] = "end_turn"): TurnRecord => ({
  turnId,
  body,
  mode: "ask_mode",
  timestamp: 0,
  answerSummary: `answer to ${body}`,
  reason,
  todos: [],
  toolHistory: [],
  usage: { costUsd: 0.5 },
});

/** A turn whose outcome is held back until the test wants it. */
function hold(): { finish(): void; fail(why: string): void } {
  let finish: (value: Outcome) => void = () => {};
  let fail: (error: Error) => void = () => {};
  let turnId = "";
  odin.replies["odin.ask"] = (argument) => {
    turnId = String(argument.turnId);
    return new Promise<Outcome>((resolve, reject) => {
      finish = resolve;
      fail = reject;
    });
  };
  return {
    finish: () => {
      odin.tell(turnId, { kind: "turnFinished", outcome: outcome(turnId) });
      finish(outcome(turnId));
    },
    fail: (why) => fail(new Error(why)),
  };
}

const start = (turnId: string, text: string) =>
  odin.tell(turnId, { kind: "turnStarted", mode: "ask_mode", model: "m", text });

describe("a turn", () => {
  it("is shown at once, and goes to the server with an id of its own", async () => {
    const turn = hold();
    const taken = chat.take("ask_mode", "Why?", [{ kind: "text", content: "x" }]);
    await settled();
    const [sent] = odin.of("odin.ask");
    expect(sent).toMatchObject({ text: "Why?", context: [{ kind: "text", content: "x" }] });
    expect(chat.state.turns[0]?.head).toMatchObject({ id: sent?.turnId, said: "Why?", status: "running" });
    expect(chat.running).toEqual({ turnId: sent?.turnId, mode: "ask_mode" });
    turn.finish();
    expect(await taken).toMatchObject({ answer: "A" });
    expect(chat.running).toBeUndefined();
    expect(chat.state.head.sessionId).toBe("s1");
  });

  it("says what the server would not do, and can be tried again", async () => {
    odin.replies["odin.edit"] = () => {
      throw new Error("this workspace is restricted");
    };
    expect(await chat.take("edit_mode", "Change it")).toBeUndefined();
    const head = chat.state.turns[0]?.head;
    expect(head).toMatchObject({ status: "lost", detail: "this workspace is restricted" });
    odin.replies["odin.edit"] = (argument) => ({ ...outcome(String(argument.turnId)), mode: "edit_mode" });
    await chat.retry(head?.id ?? "");
    expect(odin.of("odin.edit")).toHaveLength(2);
  });

  it("goes into the session that the first one began", async () => {
    const turn = hold();
    const first = chat.take("ask_mode", "One");
    await settled();
    turn.finish();
    await first;
    odin.replies["odin.ask"] = (argument) => outcome(String(argument.turnId));
    await chat.take("ask_mode", "Two");
    expect(odin.of("odin.ask")[1]).toMatchObject({ sessionId: "s1" });
  });
});

describe("the queue", () => {
  beforeEach(async () => {
    hold();
    void chat.take("ask_mode", "One");
    await settled();
    start(String(odin.of("odin.ask")[0]?.turnId), "One");
    void chat.take("ask_mode", "Two");
    await settled();
  });

  it("keeps a message until its turn comes", () => {
    expect(chat.state.head.queue).toMatchObject([{ body: "Two", lost: false }]);
    expect(chat.state.turns).toHaveLength(1);
    start(String(odin.of("odin.ask")[1]?.turnId), "Two");
    expect(chat.state.head.queue).toEqual([]);
    expect(chat.state.turns.map((it) => it.head.said)).toEqual(["One", "Two"]);
  });

  it("can be edited and removed", async () => {
    const { turnId } = chat.state.head.queue[0] ?? { turnId: "" };
    await chat.editQueued(turnId, "Two!");
    expect(odin.of("odin.queue")).toEqual([{ action: "edit", turnId, text: "Two!" }]);
    expect(chat.state.head.queue).toMatchObject([{ body: "Two!" }]);
    await chat.removeQueued(turnId);
    expect(odin.of("odin.queue")[1]).toEqual({ action: "remove", turnId });
    expect(chat.state.head.queue).toEqual([]);
  });

  it("can be said into the running turn", async () => {
    const { turnId } = chat.state.head.queue[0] ?? { turnId: "" };
    odin.replies["odin.steer"] = () => ({ taken: true });
    await chat.sendQueued(turnId);
    expect(odin.of("odin.queue")).toEqual([{ action: "remove", turnId }]);
    expect(odin.of("odin.steer")).toMatchObject([{ text: "Two" }]);
    odin.tell(String(chat.state.head.running), { kind: "userSpoke", text: "Two" });
    expect(chat.state.turns[0]?.items).toMatchObject([{ kind: "spoken", text: "Two" }]);
    expect(odin.of("odin.ask").map((it) => it.text)).toEqual(["One", "Two"]);
  });

  it("offers again what waited when the server crashed", async () => {
    odin.change({ kind: "failed", why: "it crashed", actions: [] });
    expect(chat.state.turns[0]?.head).toMatchObject({ status: "lost", detail: "it crashed" });
    expect(chat.state.head.queue).toMatchObject([{ body: "Two", lost: true }]);
    expect(chat.state.head.trouble).toMatchObject({ why: "it crashed" });
    odin.change(READY);
    expect(chat.state.head.trouble).toBeUndefined();
    odin.replies["odin.ask"] = (argument) => outcome(String(argument.turnId));
    await chat.sendQueued(chat.state.head.queue[0]?.turnId ?? "");
    expect(odin.of("odin.ask").at(-1)).toMatchObject({ text: "Two" });
  });

  it("asks what a message says that came from elsewhere", async () => {
    const queue = [{ turnId: "x", body: "From a code action", mode: "ask_mode", timestamp: 0 }];
    odin.replies["odin.queue"] = () => ({ queue });
    odin.tell("x", { kind: "turnQueued", position: 2 });
    await settled();
    expect(chat.state.head.queue.map((it) => it.body)).toEqual(["Two", "From a code action"]);
  });
});

describe("after a reload", () => {
  it("goes on with the session, the cut-off turn and what waited", async () => {
    hold();
    void chat.take("ask_mode", "Long work", [{ kind: "file", uri: "file:///a" }]);
    await settled();
    start(String(odin.of("odin.ask")[0]?.turnId), "Long work");
    void chat.take("ask_mode", "And then this");
    await settled();
    vi.useFakeTimers();
    odin.tell(String(odin.of("odin.ask")[0]?.turnId), { kind: "textStreamed", text: "Half of it" });
    vi.advanceTimersByTime(2000);
    vi.useRealTimers();

    odin = new FakeOdin();
    odin.replies["odin.session.resume"] = () => summary("s1", 1);
    odin.replies["odin.state"] = () => ({ messages: [record("old", "First")], mode: "ask_mode", executing: false });
    chat = new Conversation(odin, store);
    await chat.restore();
    expect(odin.of("odin.session.resume")).toEqual([{ sessionId: "s1" }]);
    expect(chat.state.turns.map((it) => [it.head.said, it.head.status])).toEqual([
      ["First", "ended"],
      ["Long work", "lost"],
    ]);
    expect(chat.state.turns[1]?.items).toMatchObject([{ kind: "text", text: "Half of it" }]);
    expect(chat.state.head).toMatchObject({ queue: [{ body: "And then this", lost: true }], costUsd: 0.5 });

    odin.replies["odin.ask"] = (argument) => outcome(String(argument.turnId));
    await chat.retry(chat.state.turns[1]?.head.id ?? "");
    expect(odin.of("odin.ask")[0]).toMatchObject({ text: "Long work", context: [{ kind: "file", uri: "file:///a" }] });
  });

  it("asks the server for nothing if there is nothing to go on with", async () => {
    await chat.restore();
    expect(odin.asked).toEqual([]);
  });

  it("keeps what is to be restored while there is no server", async () => {
    await store.update("odin.chat", { sessionId: "s1", unfinished: [] });
    odin = new FakeOdin();
    odin.state = { kind: "failed", why: "not installed", actions: [] };
    odin.replies["odin.session.resume"] = () => {
      throw new Error("not installed");
    };
    chat = new Conversation(odin, store);
    chat.connect(() => {});
    await chat.restore();
    odin.replies["odin.session.resume"] = () => summary("s1", 1);
    odin.replies["odin.state"] = () => ({ messages: [record("old", "First")] });
    odin.change(READY);
    await settled();
    expect(chat.state.turns.map((it) => it.head.said)).toEqual(["First"]);
  });
});

describe("sessions", () => {
  it("forks before a message, whose words come back", async () => {
    odin.replies["odin.session.resume"] = () => summary("s1", 12);
    odin.replies["odin.state"] = () => ({ messages: [record("a", "One"), record("b", "Two")] });
    await chat.openSession("s1");
    odin.replies["odin.session.fork"] = () => ({ ...summary("s2", 11), draft: "Two" });
    odin.replies["odin.state"] = () => ({ messages: [record("a", "One")] });
    expect(await chat.forkAt("b")).toBe("Two");
    expect(odin.of("odin.session.fork")).toEqual([{ sessionId: "s1", message: 11 }]);
    expect(chat.state.head.sessionId).toBe("s2");
    expect(chat.state.turns.map((it) => it.head.said)).toEqual(["One"]);
  });

  it("shows a session that a command has resumed", async () => {
    odin.replies["odin.session.resume"] = () => summary("s9", 1);
    odin.replies["odin.state"] = () => ({ messages: [record("a", "One")] });
    odin.tell("", { kind: "sessionSwitchStarted", sessionId: "s9" }, "s9");
    odin.tell("", { kind: "sessionRestored", sessionId: "s9", title: "T", messages: 1 }, "s9");
    await settled();
    expect(chat.state.head.sessionId).toBe("s9");
  });

  it("goes on in the copy if the session is open elsewhere", async () => {
    odin.replies["odin.session.resume"] = () => summary("s1", 1);
    odin.replies["odin.state"] = () => ({ messages: [record("a", "One")] });
    await chat.openSession("s1");
    odin.replies["odin.ask"] = (argument) => {
      const turnId = String(argument.turnId);
      odin.tell("", { kind: "sessionSwitchStarted", sessionId: "s1" }, "s1");
      odin.tell("", { kind: "sessionRestored", sessionId: "copy", title: "T", messages: 1 }, "copy");
      odin.tell(turnId, { kind: "turnStarted", mode: "ask_mode", model: "m", text: "Two" }, "copy");
      odin.tell(turnId, { kind: "turnFinished", outcome: outcome(turnId) }, "copy");
      return outcome(turnId);
    };
    await chat.take("ask_mode", "Two");
    expect(chat.state.head.sessionId).toBe("copy");
    expect(chat.state.turns.map((it) => [it.head.said, it.head.status])).toEqual([
      ["One", "ended"],
      ["Two", "ended"],
    ]);
  });

  it("lets a turn go on in a session that is not shown", async () => {
    hold();
    void chat.take("ask_mode", "One");
    await settled();
    const turnId = String(odin.of("odin.ask")[0]?.turnId);
    start(turnId, "One");
    odin.replies["odin.session.new"] = () => summary("s2", 0);
    await chat.newSession();
    expect(chat.state.turns).toEqual([]);
    odin.tell(turnId, { kind: "textStreamed", text: "still here" });
    odin.replies["odin.session.resume"] = () => summary("s1", 1);
    await chat.openSession("s1");
    expect(chat.state.turns[0]?.items).toMatchObject([{ text: "still here" }]);
  });
});

it("drops a review with its turn while that runs, and leaves it to others afterwards", async () => {
  const turn = hold();
  void chat.take("ask_mode", "change it");
  await vi.waitFor(() => expect(chat.running).toBeDefined());
  const { turnId = "" } = chat.running ?? {};
  odin.tell(turnId, { kind: "reviewOpened", proposal: { proposalId: "p", turnId, reason: "", files: [] } });
  expect(await chat.cancelWithReview("p")).toBe(true);
  expect(odin.of("odin.cancel")).toEqual([{ turnId, drop: true }]);
  turn.finish();
  expect(await chat.cancelWithReview("p")).toBe(false);
});

describe("a question", () => {
  it("waits for its answer, which stays to be seen", async () => {
    const asked = chat.ask(QUESTION, cancellation().token);
    chat.answer("q", { optionIds: ["deny"], text: "not now" });
    expect(await asked).toEqual({ optionIds: ["deny"], text: "not now" });
    expect(chat.state.turns[0]?.items).toMatchObject([{ answer: { labels: ["Deny"], text: "not now" } }]);
  });

  it("goes away when the server takes it back, or its turn ends", async () => {
    const { token, cancel } = cancellation();
    const first = chat.ask(QUESTION, token);
    cancel();
    expect(await first).toBeNull();
    const turn = hold();
    void chat.take("ask_mode", "One");
    await settled();
    const second = chat.ask({ ...QUESTION, questionId: "q2" }, cancellation().token);
    turn.finish();
    expect(await second).toBeNull();
    expect(chat.isAsking("q2")).toBe(false);
  });
});

it("shows everything at first, and then no more than twenty changes a second", async () => {
  vi.useFakeTimers();
  try {
    const page = emptyState();
    let shown = 0;
    chat.connect((patches) => {
      shown += 1;
      for (const patch of patches) applyPatch(page, patch);
    });
    start("t", "Why?");
    for (let count = 0; count < 1000; count += 1) {
      odin.tell("t", { kind: "textStreamed", text: "word " });
      vi.advanceTimersByTime(1);
    }
    vi.advanceTimersByTime(50);
    expect(shown).toBeLessThanOrEqual(23);
    expect(page).toEqual(chat.state);
  } finally {
    vi.useRealTimers();
  }
});
