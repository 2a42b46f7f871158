// What a window knows is kept once, with two sessions: whoever shows something of it shows the same.

import { beforeEach, expect, test } from "vitest";
import { Chat } from "../src/chat/chat";
import type { Event, EventPage, EventRecord, Outcome, Question, Review } from "../src/protocol";
import { badgeOf, standingOf } from "../src/session/selectors";
import { Store } from "../src/session/store";
import { cancellation, FakeOdin, FakeStore, READY, settled } from "./chat-fakes";

let odin: FakeOdin;
let memory: FakeStore;
let chat: Chat;

/** What each session has cost and been asked, as the server keeps it. */
const KEPT: Record<string, { said: string; costUsd: number }> = {
  a: { said: "In A", costUsd: 0.5 },
  b: { said: "In B", costUsd: 2 },
};

function pageOf(sessionId: string): EventPage {
  const { said = "", costUsd = 0 } = KEPT[sessionId] ?? {};
  const events: Event[] = [
    { kind: "turnStarted", mode: "ask_mode", model: "m", text: said },
    { kind: "turnFinished", outcome: outcome(`${sessionId}/1`, sessionId, costUsd) },
  ];
  const records = events.map(
    (event): EventRecord => ({ seq: 0, turnId: `${sessionId}/1`, sessionId, agentId: "main", event }),
  );
  return { events: records, earlierTurns: 0, seq: 0 };
}

function outcome(turnId: string, sessionId: string, costUsd: number): Outcome {
  return { turnId, sessionId, mode: "ask_mode", reason: "end_turn", answer: "", usage: { costUsd }, durationMs: 1 };
}

function serving(): FakeOdin {
  const server = new FakeOdin();
  const idOf = (argument: Record<string, unknown>) => String(argument.sessionId);
  server.replies["odin.session.resume"] = (it) => ({ sessionId: idOf(it), title: `Title of ${idOf(it)}` });
  server.replies["odin.session.events"] = (it) => pageOf(idOf(it));
  server.replies["odin.state"] = (it) => ({
    ...{ executing: false, suspended: false, compacting: false, queue: [], unbegun: [] },
    usage: { costUsd: KEPT[idOf(it)]?.costUsd },
  });
  return server;
}

beforeEach(() => {
  odin = serving();
  memory = new FakeStore();
  chat = new Chat(odin, new Store(), memory);
});

const said = () => chat.store.shown.state.turns.map((it) => it.head.said);
const shown = () => [chat.store.shown.state.head.sessionId, ...said()];

test("of two quick clicks on sessions the last one counts, whichever is read first", async () => {
  let release: () => void = () => {};
  odin.replies["odin.session.events"] = (it) =>
    it.sessionId === "a" ? new Promise((resolve) => (release = () => resolve(pageOf("a")))) : pageOf("b");
  const clicks = [chat.sessions.open("a"), chat.sessions.open("b")];
  await settled();
  release();
  await Promise.all(clicks);
  expect(shown()).toEqual(["b", "In B"]);
  expect(odin.of("odin.session.resume").at(-1)).toEqual({ sessionId: "b" });
});

test("of many clicks only the first and the last are read", async () => {
  await Promise.all(["a", "b", "a", "b", "a"].map((it) => chat.sessions.open(it)));
  expect(shown()).toEqual(["a", "In A"]);
  expect(odin.of("odin.session.resume").length).toBeLessThanOrEqual(2);
});

test("what is said right after a click goes into the session that was clicked", async () => {
  await chat.sessions.open("a");
  const opened = chat.sessions.open("b");
  odin.replies["odin.ask"] = (it) => outcome(String(it.turnId), String(it.sessionId), 0);
  await chat.turns.say("ask_mode", "Now in B");
  await opened;
  expect(odin.of("odin.ask")).toMatchObject([{ sessionId: "b" }]);
  expect(said()).toEqual(["In B", "Now in B"]);
});

test("after a reload the session comes back that was shown, and nothing of the other one", async () => {
  await chat.sessions.open("a");
  await chat.sessions.open("b");
  odin = serving();
  chat = new Chat(odin, new Store(), memory);
  await chat.sessions.restore();
  expect(shown()).toEqual(["b", "In B"]);
  odin.tell("a/2", { kind: "turnStarted", mode: "ask_mode", model: "m", text: "Elsewhere" }, "a");
  odin.tell("a/2", { kind: "turnFinished", outcome: outcome("a/2", "a", 9) }, "a");
  expect(shown()).toEqual(["b", "In B"]);
});

test("chat and status bar agree on the cost, also after a crash", async () => {
  await chat.sessions.open("a");
  odin.tell("a/2", { kind: "turnStarted", mode: "ask_mode", model: "m", text: "More" }, "a");
  odin.tell("a/2", { kind: "usageChanged", usage: { costUsd: 0.25 } }, "a");
  expect(standingOf(chat.store).costUsd).toBe(0.75);
  odin.change({ kind: "starting", why: "It has ended." });
  KEPT.a = { said: "In A", costUsd: 0.6 };
  odin.change(READY);
  await settled();
  expect(chat.store.shown.state.head.costUsd).toBe(0.6);
  expect(standingOf(chat.store).costUsd).toBe(0.6);
});

test("a turn that goes on in a session that is not shown keeps Odin busy", async () => {
  await chat.sessions.open("a");
  odin.tell("b/2", { kind: "turnStarted", mode: "edit_mode", model: "m", text: "Elsewhere" }, "b");
  expect(standingOf(chat.store).running).toEqual({ turnId: "b/2", mode: "edit_mode" });
  expect(chat.turns.running).toBeUndefined();
  odin.tell("b/2", { kind: "turnFinished", outcome: outcome("b/2", "b", 1) }, "b");
  expect(standingOf(chat.store).running).toBeUndefined();
});

test("a session that was only heard of is read when it is opened", async () => {
  await chat.sessions.open("a");
  odin.tell("b/2", { kind: "turnStarted", mode: "ask_mode", model: "m", text: "Elsewhere" }, "b");
  await chat.sessions.open("b");
  expect(shown()).toEqual(["b", "In B"]);
});

test("questions and reviews are counted once, wherever they are heard of", async () => {
  const question: Question = { questionId: "q", kind: "permission", title: "Run it?" };
  const proposal: Review = { proposalId: "p", turnId: "a/1", sessionId: "a", reason: "", files: [] };
  await chat.sessions.open("a");
  odin.tell("a/1", { kind: "questionAsked", question }, "a");
  const asked = chat.questions.ask(question, cancellation().token);
  odin.tell("a/1", { kind: "reviewOpened", proposal }, "a");
  chat.store.reviews.open(proposal);
  expect(standingOf(chat.store)).toMatchObject({ questions: 1, reviews: 1 });
  expect(badgeOf(chat.store)).toMatchObject({ value: 1 });
  chat.questions.answer("q", { optionIds: [] });
  await asked;
  odin.tell("a/1", { kind: "reviewClosed", proposalId: "p", receipts: [] }, "a");
  expect(standingOf(chat.store)).toMatchObject({ questions: 0, reviews: 0 });
  expect(badgeOf(chat.store)).toBeUndefined();
});

test("a server that is stopped takes no review with it", () => {
  const proposal: Review = { proposalId: "p", turnId: "a/1", sessionId: "a", reason: "", files: [] };
  odin.tell("a/1", { kind: "reviewOpened", proposal }, "a");
  odin.change({ kind: "stopped" });
  odin.tell("a/1", { kind: "reviewClosed", proposalId: "p", receipts: [] }, "a");
  expect(chat.store.reviews.size).toBe(1);
});
