// Turns, the queue, sessions and questions, and that none of it is lost.

import { beforeEach, describe, expect, it, vi } from "vitest";
import { Chat } from "../src/chat/chat";
import type { Event, EventPage, EventRecord, Outcome, Question, SessionSummary, State } from "../src/protocol";
import { applyPatch } from "../src/session/patches";
import { windowOf } from "../src/session/selectors";
import { emptyPage } from "../src/session/state";
import { Store } from "../src/session/store";
import { cancellation, FakeOdin, FakeStore, READY, settled } from "./chat-fakes";

let odin: FakeOdin;
let store: FakeStore;
let chat: Chat;

beforeEach(() => {
  odin = new FakeOdin();
  store = new FakeStore();
  chat = new Chat(odin, new Store(), store);
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
type Told = [turnId: string, said: string, reason?: Outcome["reason"], ...events: Event[]];

/** What the server has kept of these turns; those without a reason have not ended. */
function kept(...turns: Told[]): EventPage {
  const events = turns.flatMap(([turnId, text, reason, ...rest]) => {
    const all: Event[] = [{ kind: "turnStarted", mode: "ask_mode", model: "m", text }, ...rest];
    if (reason) {
      const spent = { usage: { costUsd: 0.5 }, durationMs: 1 };
      all.push({ kind: "turnFinished", outcome: { ...outcome(turnId), reason, ...spent } });
    }
    return all.map((event): EventRecord => ({ seq: 0, turnId, sessionId: "s1", agentId: "main", event }));
  });
  return { events, earlierTurns: 0, seq: 0 };
}

/** The server has a session with these turns. */
function keeps(sessionId: string, page: EventPage, state: Partial<State> = {}): void {
  odin.replies["odin.session.resume"] = () => summary(sessionId, page.events.length);
  odin.replies["odin.session.events"] = () => page;
  odin.replies["odin.state"] = () => ({
    executing: false,
    suspended: false,
    queue: [],
    unbegun: [],
    usage: {},
    ...state,
  });
}

const shown = () => chat.store.shown.state.turns.map((it) => [it.head.said, it.head.status]);

/** Besides the role, which is wanted of every server. */
const asked = () => odin.asked.map((it) => it.command).filter((it) => it !== "odin.role");

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
    const taken = chat.turns.say("ask_mode", "Why?", [{ kind: "text", content: "x" }]);
    await settled();
    const [sent] = odin.of("odin.ask");
    expect(sent).toMatchObject({ text: "Why?", context: [{ kind: "text", content: "x" }] });
    expect(chat.store.shown.state.turns[0]?.head).toMatchObject({ id: sent?.turnId, said: "Why?", status: "running" });
    expect(chat.turns.running).toEqual({ turnId: sent?.turnId, mode: "ask_mode" });
    turn.finish();
    expect(await taken).toMatchObject({ answer: "A" });
    expect(chat.turns.running).toBeUndefined();
    expect(chat.store.shown.state.head.sessionId).toBe("s1");
  });

  it("says what the server would not do, and can be tried again", async () => {
    odin.replies["odin.edit"] = () => {
      throw new Error("this workspace is restricted");
    };
    expect(await chat.turns.say("edit_mode", "Change it")).toBeUndefined();
    const head = chat.store.shown.state.turns[0]?.head;
    expect(head).toMatchObject({ status: "lost", detail: "this workspace is restricted" });
    odin.replies["odin.edit"] = (argument) => ({ ...outcome(String(argument.turnId)), mode: "edit_mode" });
    await chat.turns.retry(head?.id ?? "");
    expect(odin.of("odin.edit")).toHaveLength(2);
    expect(chat.store.shown.state.turns).toHaveLength(1);
  });

  it("goes into the session that the first one began", async () => {
    const turn = hold();
    const first = chat.turns.say("ask_mode", "One");
    await settled();
    turn.finish();
    await first;
    odin.replies["odin.ask"] = (argument) => outcome(String(argument.turnId));
    await chat.turns.say("ask_mode", "Two");
    expect(odin.of("odin.ask")[1]).toMatchObject({ sessionId: "s1" });
  });
});

describe("the queue", () => {
  beforeEach(async () => {
    hold();
    void chat.turns.say("ask_mode", "One");
    await settled();
    start(String(odin.of("odin.ask")[0]?.turnId), "One");
    void chat.turns.say("ask_mode", "Two");
    await settled();
  });

  it("keeps a message until its turn comes", () => {
    expect(chat.store.shown.state.head.queue).toMatchObject([{ body: "Two", lost: false }]);
    expect(chat.store.shown.state.turns).toHaveLength(1);
    start(String(odin.of("odin.ask")[1]?.turnId), "Two");
    expect(chat.store.shown.state.head.queue).toEqual([]);
    expect(chat.store.shown.state.turns.map((it) => it.head.said)).toEqual(["One", "Two"]);
  });

  it("can be edited and removed", async () => {
    const { turnId } = chat.store.shown.state.head.queue[0] ?? { turnId: "" };
    await chat.turns.editQueued(turnId, "Two!");
    expect(odin.of("odin.queue")).toEqual([{ action: "edit", turnId, text: "Two!" }]);
    expect(chat.store.shown.state.head.queue).toMatchObject([{ body: "Two!" }]);
    await chat.turns.removeQueued(turnId);
    expect(odin.of("odin.queue")[1]).toEqual({ action: "remove", turnId });
    expect(chat.store.shown.state.head.queue).toEqual([]);
  });

  it("can be said into the running turn", async () => {
    const { turnId } = chat.store.shown.state.head.queue[0] ?? { turnId: "" };
    odin.replies["odin.steer"] = () => ({ taken: true });
    await chat.turns.sendQueued(turnId);
    expect(odin.of("odin.queue")).toEqual([{ action: "remove", turnId }]);
    expect(odin.of("odin.steer")).toMatchObject([{ text: "Two" }]);
    odin.tell(String(chat.store.shown.state.head.running), { kind: "userSpoke", text: "Two" });
    expect(chat.store.shown.state.turns[0]?.items).toMatchObject([{ kind: "spoken", text: "Two" }]);
    expect(odin.of("odin.ask").map((it) => it.text)).toEqual(["One", "Two"]);
  });

  it("offers again what waited when the server crashed", async () => {
    odin.change({ kind: "failed", why: "it crashed", actions: [] });
    expect(chat.store.shown.state.turns[0]?.head).toMatchObject({ status: "lost", detail: "it crashed" });
    expect(chat.store.shown.state.head.queue).toMatchObject([{ body: "Two", lost: true }]);
    expect(windowOf(chat.store).trouble).toMatchObject({ why: "it crashed" });
    odin.change(READY);
    expect(windowOf(chat.store).trouble).toBeUndefined();
    odin.replies["odin.ask"] = (argument) => outcome(String(argument.turnId));
    await chat.turns.sendQueued(chat.store.shown.state.head.queue[0]?.turnId ?? "");
    expect(odin.of("odin.ask").at(-1)).toMatchObject({ text: "Two" });
  });

  it("waits when the turn is cancelled, until the user goes on with it", async () => {
    const running = String(chat.store.shown.state.head.running);
    await chat.turns.cancel();
    odin.tell(running, { kind: "turnFinished", outcome: { ...outcome(running), reason: "interrupted" } });
    expect(odin.of("odin.cancel")).toEqual([{ turnId: running, queue: "keep" }]);
    expect(chat.store.shown.state.head).toMatchObject({ running: undefined, queue: [{ body: "Two", lost: false }] });
    await chat.turns.goOnWithLast();
    expect(odin.of("odin.queue")).toEqual([{ action: "resume" }]);
    await chat.turns.cancel("next");
    expect(odin.of("odin.cancel")).toHaveLength(1);
  });

  it("is given back in one piece when the turn is cancelled so", async () => {
    void chat.turns.say("edit_mode", "Three");
    await settled();
    const returned = [...chat.store.shown.state.head.queue];
    odin.replies["odin.cancel"] = () => ({ cancelled: true, returned });
    const given: string[] = [];
    chat.turns.onDidReturn((text) => given.push(text));
    await chat.turns.cancel("return");
    expect(given).toEqual(["Two\n\nThree"]);
    expect(chat.store.shown.state.head.queue).toEqual([]);
  });

  it("is still there when the user comes back to a session whose turn was cancelled", async () => {
    const queue = [{ turnId: "x", body: "Two", mode: "ask_mode", timestamp: 0 }] as const;
    keeps("s2", kept(["a", "One", "interrupted"]), { queue: [...queue] });
    await chat.sessions.open("s2");
    expect(chat.store.shown.state.head.queue).toEqual([{ turnId: "x", body: "Two", mode: "ask_mode", lost: false }]);
  });

  it("asks what a message says that came from elsewhere", async () => {
    const queue = [{ turnId: "x", body: "From a code action", mode: "ask_mode", timestamp: 0 }];
    odin.replies["odin.queue"] = () => ({ queue });
    odin.tell("x", { kind: "turnQueued", position: 2 });
    await settled();
    expect(chat.store.shown.state.head.queue.map((it) => it.body)).toEqual(["Two", "From a code action"]);
  });
});

describe("after a reload", () => {
  const HALF: Event = { kind: "messageFinished", text: "Half of it", toolCalls: 0 };

  it("goes on with the session, the cut-off turn and what waited", async () => {
    hold();
    void chat.turns.say("ask_mode", "Long work");
    await settled();
    start(String(odin.of("odin.ask")[0]?.turnId), "Long work");
    void chat.turns.say("ask_mode", "And then this", [{ kind: "file", uri: "file:///a" }]);
    await settled();
    const [, waited] = odin.of("odin.ask");

    odin = new FakeOdin();
    const unbegun = [
      { turnId: String(waited?.turnId), body: "And then this", mode: "ask_mode", timestamp: 0 } as const,
    ];
    keeps("s1", kept(["old", "First", "end_turn"], ["cut", "Long work", "aborted", HALF]), { unbegun });
    chat = new Chat(odin, new Store(), store);
    await chat.sessions.restore();
    expect(odin.of("odin.session.resume")).toEqual([{ sessionId: "s1" }]);
    expect(asked()[0]).toBe("odin.review.list");
    expect(shown()).toEqual([
      ["First", "ended"],
      ["Long work", "ended"],
    ]);
    expect(chat.store.shown.state.turns[1]?.items).toMatchObject([{ kind: "text", text: "Half of it" }]);
    expect(chat.store.shown.state.head).toMatchObject({ queue: [{ body: "And then this", lost: true }], costUsd: 1 });

    odin.replies["odin.ask"] = (argument) => outcome(String(argument.turnId));
    await chat.turns.sendQueued(String(waited?.turnId));
    const context = [{ kind: "file", uri: "file:///a" }];
    expect(odin.of("odin.ask")).toMatchObject([{ text: "And then this", context, sessionId: "s1" }]);
  });

  it("takes up a turn that was cut off without saying anything again", async () => {
    keeps("s1", kept(["cut", "Long work", "aborted", HALF]));
    await chat.sessions.open("s1");
    let finish: (value: Outcome) => void = () => {};
    odin.replies["odin.continue"] = () => new Promise<Outcome>((resolve) => (finish = resolve));
    const going = chat.turns.goOn("cut");
    expect(chat.turns.running).toEqual({ turnId: "cut", mode: "ask_mode" });
    expect(await chat.turns.goOn("cut")).toBeUndefined();
    start("cut", "Long work");
    odin.tell("cut", { kind: "messageFinished", text: "The rest", toolCalls: 0 });
    odin.tell("cut", { kind: "turnFinished", outcome: outcome("cut") });
    finish(outcome("cut"));
    await going;
    expect(odin.of("odin.continue")).toEqual([{ sessionId: "s1" }]);
    expect(odin.of("odin.ask")).toEqual([]);
    expect(chat.store.shown.state.turns).toMatchObject([
      { head: { reason: "end_turn" }, items: [{}, { text: "The rest" }] },
    ]);
  });

  it("says why a turn could not be taken up", async () => {
    keeps("s1", kept(["cut", "Long work", "aborted"]));
    await chat.sessions.open("s1");
    odin.replies["odin.continue"] = () => {
      throw new Error("changes wait for a decision");
    };
    await chat.turns.goOn("cut");
    expect(chat.store.shown.state.turns[0]?.head).toMatchObject({
      status: "lost",
      detail: "changes wait for a decision",
    });
    expect(chat.turns.running).toBeUndefined();
  });

  it("shows a turn as waiting that goes on when its review is made", async () => {
    const file = { uri: "file:///w/a.py", operation: "edit", baseHash: "", proposedText: "" } as const;
    const place = { line: 0, character: 0 };
    const hunks = [{ id: "h", range: { start: place, end: place }, oldText: "", newText: "", reason: "" }];
    const proposal = { proposalId: "p", turnId: "t", sessionId: "s1", reason: "", files: [{ ...file, hunks }] };
    const called: Event = {
      kind: "toolStarted",
      callId: "c",
      name: "EditTool",
      arguments: {},
      description: "edit a.py",
    };
    keeps("s1", kept(["t", "Change it", undefined, called, { kind: "reviewOpened", proposal }]), { suspended: true });
    odin.replies["odin.review.list"] = () => ({ proposals: [proposal] });
    await chat.sessions.open("s1");
    expect(chat.turns.running).toBeUndefined();
    expect(chat.store.shown.state.turns).toMatchObject([
      { head: { status: "suspended" }, items: [{ status: "running" }, { isOpen: true, waits: true }] },
    ]);
    start("t", "Change it");
    expect(chat.turns.running).toEqual({ turnId: "t", mode: "ask_mode" });
    expect(chat.store.shown.state.turns).toMatchObject([
      { head: { status: "running" }, items: [{}, { waits: false }] },
    ]);
  });

  it("asks the server for nothing if there is nothing to go on with", async () => {
    await chat.sessions.restore();
    expect(asked()).toEqual([]);
  });

  it("keeps what is to be restored while there is no server", async () => {
    await store.update("odin.chat", { sessionId: "s1" });
    odin = new FakeOdin();
    odin.state = { kind: "failed", why: "not installed", actions: [] };
    odin.replies["odin.session.resume"] = () => {
      throw new Error("not installed");
    };
    chat = new Chat(odin, new Store(), store);
    chat.showing.connect(() => {});
    await chat.sessions.restore();
    keeps("s1", kept(["old", "First", "end_turn"]));
    odin.change(READY);
    await settled();
    expect(chat.store.shown.state.turns.map((it) => it.head.said)).toEqual(["First"]);
  });

  it("shows what the server kept when it is back, and what it had never heard of", async () => {
    hold();
    void chat.turns.say("ask_mode", "Long work");
    await settled();
    const turnId = String(odin.of("odin.ask")[0]?.turnId);
    start(turnId, "Long work");
    odin.tell(turnId, { kind: "textStreamed", text: "Half of it, and more" });
    odin.change({ kind: "failed", why: "it crashed", actions: [] });
    odin.replies["odin.ask"] = () => {
      throw new Error("it cannot be started");
    };
    await chat.turns.say("ask_mode", "Are you there?");
    expect(shown()).toEqual([
      ["Long work", "lost"],
      ["Are you there?", "lost"],
    ]);

    keeps("s1", kept([turnId, "Long work", "aborted", HALF]));
    odin.change(READY);
    await settled();
    expect(shown()).toEqual([
      ["Long work", "ended"],
      ["Are you there?", "lost"],
    ]);
    expect(chat.store.shown.state.turns[0]).toMatchObject({
      head: { reason: "aborted", number: 0 },
      items: [{ text: "Half of it" }],
    });
    expect(chat.store.shown.state.turns[1]?.head).toMatchObject({ detail: "it cannot be started" });
  });
});

describe("sessions", () => {
  it("takes what is told while it is read only once, and in its order", async () => {
    odin.replies["odin.session.resume"] = () => summary("s1", 1);
    odin.replies["odin.session.events"] = () => {
      odin.tell("a", { kind: "notice", level: "info", message: "in the page" }, "s1", "main", 6);
      odin.tell("a", { kind: "notice", level: "info", message: "after it" }, "s1", "main", 7);
      const inPage: Event = { kind: "notice", level: "info", message: "in the page" };
      return { ...kept(["a", "One", undefined, inPage]), seq: 6 };
    };
    odin.replies["odin.state"] = () => ({ executing: true, queue: [], suspended: false, unbegun: [], usage: {} });
    await chat.sessions.open("s1");
    expect(chat.turns.running?.turnId).toBe("a");
    expect(chat.store.shown.state.turns[0]?.items).toMatchObject([{ message: "in the page" }, { message: "after it" }]);
  });

  it("shows what came earlier when it is wanted", async () => {
    keeps("s1", { ...kept(["b", "Two", "end_turn"]), earlierTurns: 1, before: 77 }, { usage: { costUsd: 1.25 } });
    await chat.sessions.open("s1");
    expect(chat.store.shown.state.head).toMatchObject({ hasEarlier: true, costUsd: 1.25 });
    odin.replies["odin.session.events"] = () => kept(["a", "One", "end_turn"]);
    await chat.sessions.showEarlier();
    expect(odin.of("odin.session.events").at(-1)).toEqual({ sessionId: "s1", before: 77 });
    expect(chat.store.shown.state.turns.map((it) => [it.head.said, it.head.number])).toEqual([
      ["One", 0],
      ["Two", 1],
    ]);
    expect(chat.store.shown.state.head).toMatchObject({ hasEarlier: false, costUsd: 1.25 });
    await chat.sessions.showEarlier();
    expect(odin.of("odin.session.events")).toHaveLength(2);
  });

  it("forks before a message, whose words come back in their mode", async () => {
    keeps("s1", { ...kept(["a", "One", "end_turn"], ["b", "Two", "end_turn"]), earlierTurns: 10, before: 5 });
    await chat.sessions.open("s1");
    odin.replies["odin.session.fork"] = () => ({ ...summary("s2", 11), draft: "Two" });
    odin.replies["odin.session.events"] = () => kept(["a", "One", "end_turn"]);
    expect(await chat.turns.forkAt("b")).toEqual({ text: "Two", mode: "ask_mode" });
    expect(odin.of("odin.session.fork")).toEqual([{ sessionId: "s1", message: 11 }]);
    expect(odin.of("odin.undoTurn")).toEqual([]);
    expect(chat.store.shown.state.head.sessionId).toBe("s2");
    expect(chat.store.shown.state.turns.map((it) => it.head.said)).toEqual(["One"]);
  });

  it("takes back with a fork what was changed from there on, the newest first, and tells what was left", async () => {
    const ended = (turnId: string, ...names: string[]): Told => {
      const receipts = names.map((it) => ({ hunkId: it, uri: `file:///w/${it}`, state: "accepted" }) as const);
      const end: Event = { kind: "turnFinished", outcome: { ...outcome(turnId), receipts, durationMs: 1 } };
      return [turnId, turnId, undefined, end];
    };
    const undone: Event = { kind: "turnUndone", restored: ["file:///w/c"] };
    const [id, said, reason, ...events] = ended("three", "c");
    keeps(
      "s1",
      kept(ended("one", "a"), ended("two", "a", "b"), [id, said, reason, ...events, undone], ended("four", "b")),
    );
    await chat.sessions.open("s1");
    const changed = chat.store.shown.changedFrom("two");
    expect(changed.map((it) => [it.id, it.changed])).toEqual([
      ["four", ["file:///w/b"]],
      ["two", ["file:///w/a", "file:///w/b"]],
    ]);
    odin.replies["odin.session.fork"] = () => ({ ...summary("s2", 1), draft: "two" });
    odin.replies["odin.session.events"] = () => kept(["one", "one", "end_turn"]);
    odin.replies["odin.undoTurn"] = ({ turnId }) => {
      const left = [{ uri: "file:///w/b", reason: "it has changed since" }];
      return turnId === "two" ? { restored: ["file:///w/a"], kept: left } : { restored: ["file:///w/b"], kept: [] };
    };
    expect(await chat.turns.forkAt("two", changed)).toMatchObject({ text: "two" });
    expect(odin.of("odin.undoTurn")).toEqual([{ turnId: "four" }, { turnId: "two" }]);
    const told = chat.store.shown.state.turns.at(-1)?.items;
    expect(told).toMatchObject([{ kind: "notice", message: "b was not undone: it has changed since" }]);
  });

  it("shows a session that a command has resumed", async () => {
    keeps("s9", kept(["a", "One", "end_turn"]));
    odin.tell("", { kind: "sessionSwitchStarted", sessionId: "s9" }, "s9");
    odin.tell("", { kind: "sessionRestored", sessionId: "s9", title: "T", messages: 1 }, "s9");
    await settled();
    expect(chat.store.shown.state.head.sessionId).toBe("s9");
  });

  it("goes on in the copy if the session is open elsewhere", async () => {
    keeps("s1", kept(["a", "One", "end_turn"]));
    await chat.sessions.open("s1");
    odin.replies["odin.ask"] = (argument) => {
      const turnId = String(argument.turnId);
      odin.tell("", { kind: "sessionSwitchStarted", sessionId: "s1" }, "s1");
      odin.tell("", { kind: "sessionRestored", sessionId: "copy", title: "T", messages: 1 }, "copy");
      odin.tell(turnId, { kind: "turnStarted", mode: "ask_mode", model: "m", text: "Two" }, "copy");
      odin.tell(turnId, { kind: "turnFinished", outcome: outcome(turnId) }, "copy");
      return outcome(turnId);
    };
    await chat.turns.say("ask_mode", "Two");
    expect(chat.store.shown.state.head.sessionId).toBe("copy");
    expect(chat.store.shown.state.turns.map((it) => [it.head.said, it.head.status])).toEqual([
      ["One", "ended"],
      ["Two", "ended"],
    ]);
  });

  it("lets a turn go on in a session that is not shown", async () => {
    hold();
    void chat.turns.say("ask_mode", "One");
    await settled();
    const turnId = String(odin.of("odin.ask")[0]?.turnId);
    start(turnId, "One");
    odin.replies["odin.session.new"] = () => summary("s2", 0);
    await chat.sessions.begin();
    expect(chat.store.shown.state.turns).toEqual([]);
    odin.tell(turnId, { kind: "textStreamed", text: "still here" });
    odin.replies["odin.session.resume"] = () => summary("s1", 1);
    await chat.sessions.open("s1");
    expect(chat.store.shown.state.turns[0]?.items).toMatchObject([{ text: "still here" }]);
  });
});

it("drops a review with its turn while that runs, and leaves it to others afterwards", async () => {
  const turn = hold();
  void chat.turns.say("ask_mode", "change it");
  await vi.waitFor(() => expect(chat.turns.running).toBeDefined());
  const { turnId = "" } = chat.turns.running ?? {};
  odin.tell(turnId, { kind: "reviewOpened", proposal: { proposalId: "p", turnId, reason: "", files: [] } });
  expect(await chat.turns.cancelWithReview("p")).toBe(true);
  expect(odin.of("odin.cancel")).toEqual([{ turnId, drop: true }]);
  turn.finish();
  expect(await chat.turns.cancelWithReview("p")).toBe(false);
});

describe("a session that is cleared", () => {
  beforeEach(async () => {
    keeps("s1", kept(["a", "One", "end_turn"]));
    await chat.sessions.open("s1");
    odin.replies["odin.session.events"] = () => kept();
  });

  it("is shown as empty, and says so if it cannot be", async () => {
    odin.replies["odin.clear"] = () => {
      throw new Error("the session is in a turn");
    };
    await expect(chat.sessions.clear()).rejects.toThrow("the session is in a turn");
    expect(shown()).toEqual([["One", "ended"]]);
    odin.replies["odin.clear"] = () => {
      odin.tell("", { kind: "sessionRestored", sessionId: "s1", title: "Title", messages: 0 });
      return summary("s1", 0);
    };
    await chat.sessions.clear();
    expect(odin.of("odin.clear").at(-1)).toEqual({ sessionId: "s1" });
    expect(shown()).toEqual([]);
    expect(odin.of("odin.session.resume")).toHaveLength(1);
  });

  it("is shown as empty whoever has cleared it", async () => {
    odin.tell("", { kind: "sessionSwitchStarted", sessionId: "s1" });
    odin.tell("", { kind: "sessionRestored", sessionId: "s1", title: "Title", messages: 1 });
    await settled();
    expect(shown()).toEqual([["One", "ended"]]);
    odin.tell("", { kind: "sessionRestored", sessionId: "s1", title: "Title", messages: 0 });
    await vi.waitFor(() => expect(shown()).toEqual([]));
  });
});

it("continues the last turn, and tells why it cannot", async () => {
  keeps("s1", kept(["a", "One", "end_turn"]));
  await chat.sessions.open("s1");
  await chat.turns.goOnWithLast();
  expect(odin.of("odin.continue")).toEqual([{ sessionId: "s1" }]);
  odin.replies["odin.continue"] = () => {
    throw new Error("there is nothing to go on with");
  };
  await chat.turns.goOnWithLast();
  expect(chat.store.shown.state.turns[0]?.head).toMatchObject({ status: "ended", reason: "end_turn" });
  expect(chat.store.shown.state.turns[1]?.items).toMatchObject([
    { kind: "notice", message: "there is nothing to go on with" },
  ]);
});

it("brings back what was undone", async () => {
  keeps("s1", kept(["a", "One", "end_turn"]));
  await chat.sessions.open("s1");
  odin.replies["odin.undoTurn"] = () => ({ restored: ["file:///w/a"], kept: [], undoId: "u" });
  await chat.turns.undo("a");
  expect(chat.store.shown.state.turns[0]?.head.undone?.undoId).toBe("u");
  await chat.turns.bringBack("a");
  expect(odin.of("odin.undoTurn")).toEqual([{ turnId: "a" }, { turnId: "u" }]);
  expect(chat.store.shown.state.turns[0]?.head.undone).toBeUndefined();
});

it("says what was undone, and what was left", async () => {
  keeps("s1", kept(["a", "One", "end_turn"]));
  await chat.sessions.open("s1");
  const undone = { restored: ["file:///w/a"], kept: [{ uri: "file:///w/b", reason: "it has changed since" }] };
  odin.replies["odin.undoTurn"] = () => undone;
  await chat.turns.undo("a");
  expect(odin.of("odin.undoTurn")).toEqual([{ turnId: "a" }]);
  expect(chat.store.shown.state.turns[0]?.head.undone).toEqual(undone);
});

it("cancels the compaction of the running turn, and knows whether there is one", async () => {
  hold();
  void chat.turns.say("ask_mode", "One");
  await settled();
  const turnId = String(chat.store.shown.state.head.running);
  start(turnId, "One");
  const compacted = (status: "started" | "cancelled"): Event => ({ kind: "compacted", status, before: 9, after: 9 });
  odin.tell(turnId, compacted("started"), "s1", "explorer-1");
  expect(chat.store.shown.state.head.isCompacting).toBe(false);
  odin.tell(turnId, compacted("started"));
  expect(chat.store.shown.state.head.isCompacting).toBe(true);
  await chat.turns.cancelCompaction();
  expect(odin.of("odin.cancel")).toEqual([{ turnId, only: "compaction" }]);
  odin.tell(turnId, compacted("cancelled"));
  expect(chat.store.shown.state.head).toMatchObject({ isCompacting: false, running: turnId });
});

describe("a question", () => {
  it("is drawn by its events, and answered where they have put it", async () => {
    hold();
    void chat.turns.say("ask_mode", "One");
    await settled();
    const turnId = String(chat.store.shown.state.head.running);
    start(turnId, "One");
    odin.tell(turnId, { kind: "questionAsked", question: QUESTION });
    const asked = chat.questions.ask(QUESTION, cancellation().token);
    chat.questions.answer("q", { optionIds: ["deny"] });
    expect(await asked).toEqual({ optionIds: ["deny"] });
    odin.tell(turnId, { kind: "questionAnswered", questionId: "q", answer: { optionIds: ["deny"] } });
    expect(chat.store.shown.state.turns[0]?.items).toMatchObject([{ kind: "question", answer: { labels: ["Deny"] } }]);
  });

  it("waits for its answer, which stays to be seen", async () => {
    const asked = chat.questions.ask(QUESTION, cancellation().token);
    chat.questions.answer("q", { optionIds: ["deny"], text: "not now" });
    expect(await asked).toEqual({ optionIds: ["deny"], text: "not now" });
    expect(chat.store.shown.state.turns[0]?.items).toMatchObject([{ answer: { labels: ["Deny"], text: "not now" } }]);
  });

  it("says until when it can be answered, and what was allowed in the command's place", async () => {
    const question = { ...QUESTION, timeoutMs: 90_000 };
    const page = kept(["t1", "One", undefined, { kind: "questionAsked", question }]);
    keeps("s1", { ...page, events: page.events.map((it) => ({ ...it, at: 1000 })) }, { executing: true });
    await chat.sessions.open("s1");
    expect(chat.store.shown.state.turns[0]?.items).toMatchObject([{ kind: "question", until: 1090 }]);
    odin.tell("t1", {
      ...{ kind: "questionAnswered", questionId: "q" },
      answer: { optionIds: ["allow_once"], command: "rm y" },
    });
    expect(chat.store.shown.state.turns[0]?.items).toMatchObject([
      { answer: { labels: ["Allow once"], command: "rm y" } },
    ]);
  });

  it("is asked where the user looks, unless a turn waits for it in another session", async () => {
    const asking = () => chat.store.shown.isAsking("q");
    const asked = chat.questions.ask(QUESTION, cancellation().token);
    odin.replies["odin.session.new"] = () => summary("s2", 0);
    await chat.sessions.begin();
    expect(asking()).toBe(true);
    keeps("s2", kept(["t1", "One"]), { executing: true });
    await chat.sessions.open("s2");
    expect(asking()).toBe(true);
    expect(chat.store.shown.state.head.running).toBe("t1");
    odin.replies["odin.session.new"] = () => summary("s3", 0);
    await chat.sessions.begin();
    expect(asking()).toBe(false);
    await chat.sessions.open("s2");
    expect(asking()).toBe(true);
    chat.questions.answer("q", { optionIds: ["deny"] });
    expect(await asked).toEqual({ optionIds: ["deny"] });
  });

  it("goes away when the server takes it back, or its turn ends", async () => {
    const { token, cancel } = cancellation();
    const first = chat.questions.ask(QUESTION, token);
    cancel();
    expect(await first).toBeNull();
    const turn = hold();
    void chat.turns.say("ask_mode", "One");
    await settled();
    const second = chat.questions.ask({ ...QUESTION, questionId: "q2" }, cancellation().token);
    turn.finish();
    expect(await second).toBeNull();
    expect(chat.store.shown.state.turns.at(-1)?.items).toMatchObject([{ kind: "question", answer: "gone" }]);
  });
});

it("shows everything at first, and then no more than twenty changes a second", async () => {
  vi.useFakeTimers();
  try {
    const page = emptyPage();
    let shown = 0;
    chat.showing.connect((patches) => {
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
    expect(page).toEqual({ ...chat.store.shown.state, window: windowOf(chat.store) });
  } finally {
    vi.useRealTimers();
  }
});
