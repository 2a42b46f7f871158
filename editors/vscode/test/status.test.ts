import { expect, test, vi } from "vitest";
import { Chat } from "../src/chat/chat";
import type { ServerState } from "../src/odin";
import type { Event, EventRecord, Question } from "../src/protocol";
import { INSTALL } from "../src/server/life";
import { standingOf } from "../src/session/selectors";
import { Store } from "../src/session/store";
import { type StatusText, shownFor } from "../src/status";
import { FakeOdin, FakeStore } from "./chat-fakes";

const INFO = { version: 1, server: "0", model: "anthropic/opus", smallModel: "", modes: [], tools: [] };

function scene(isTrusted = true) {
  const odin = new FakeOdin();
  odin.state = { kind: "stopped" };
  const store = new Store();
  store.set({ isTrusted });
  const chat = new Chat(odin, store, new FakeStore());
  return {
    odin,
    store,
    chat,
    shown: (): StatusText => shownFor(standingOf(store)),
    become: (state: ServerState) => odin.change(state),
    tell: (event: Event, more: Partial<EventRecord> = {}) =>
      odin.events.fire({ seq: 1, turnId: "t1", sessionId: "s1", agentId: "main", event, ...more }),
  };
}

function ready(isTrusted = true) {
  const it = scene(isTrusted);
  it.become({ kind: "ready", info: INFO });
  return it;
}

const started: Event = { kind: "turnStarted", mode: "edit_mode", model: "anthropic/opus" };

function finished(costUsd: number): Event {
  const outcome = {
    turnId: "t1",
    sessionId: "s1",
    mode: "edit_mode",
    reason: "end_turn",
    answer: "",
    usage: { costUsd },
    durationMs: 1,
  };
  return { kind: "turnFinished", outcome } as Event;
}

const QUESTION: Question = { questionId: "q", kind: "permission", title: "Run it?" };

test("a server that nobody has installed yet is no alarm", () => {
  const it = scene();
  it.become({ kind: "failed", why: "It is not installed.", actions: [INSTALL] });
  expect(it.shown()).toMatchObject({ text: "$(circle-outline) Odin: Set Up", background: undefined });
});

test("the server's life is told", () => {
  const it = scene();
  expect(it.shown()).toMatchObject({ text: "$(circle-outline) Odin", background: undefined });
  it.become({ kind: "starting" });
  expect(it.shown().label).toBe("Odin is starting.");
  it.become({ kind: "starting", why: "It has ended." });
  expect(it.shown()).toMatchObject({ background: "warning", tooltip: expect.stringContaining("It has ended.") });
  it.become({ kind: "failed", why: "It is not installed.", actions: [] });
  expect(it.shown()).toMatchObject({ background: "error", label: "Odin is not running. It is not installed." });
});

test("a turn shows its model, mode, activity and cost", () => {
  const it = ready();
  expect(it.shown().text).toBe("$(eye) opus");
  it.tell(started);
  it.tell({ kind: "activityChanged", activity: "streaming" });
  it.tell({ kind: "usageChanged", usage: { costUsd: 0.034 } });
  expect(it.shown().text).toBe("$(loading~spin) opus · Edit · $0.0340 · Writing");
  it.tell(finished(0.05));
  expect(it.shown().text).toBe("$(eye) opus · $0.0500");
});

test("the role stands beside the model, unless it is the usual one", () => {
  const it = ready();
  it.tell({ kind: "roleChanged", role: "planner" }, { turnId: "" });
  expect(it.shown()).toMatchObject({
    text: "$(eye) opus · planner",
    tooltip: expect.stringContaining("Role: planner."),
  });
  it.tell({ kind: "roleChanged", role: "builder" }, { turnId: "" });
  expect(it.shown()).toMatchObject({ text: "$(eye) opus", tooltip: "Odin is ready. Model: anthropic/opus." });
});

test("the cost is that of the session, and another session has its own", () => {
  const it = ready();
  it.tell(started);
  it.tell(finished(0.05));
  it.tell(started, { turnId: "t2" });
  it.tell({ kind: "usageChanged", usage: { costUsd: 0.02 } }, { turnId: "t2" });
  expect(it.shown().text).toContain("$0.07");
  it.tell(started, { turnId: "t3", sessionId: "s2" });
  it.tell({ kind: "usageChanged", usage: { costUsd: 5 } }, { turnId: "t3", sessionId: "s2" });
  expect(it.shown().text).toContain("$0.07");
});

test("a session that is resumed brings its cost along", async () => {
  const it = ready();
  it.odin.replies["odin.session.resume"] = () => ({ sessionId: "s0", title: "" });
  it.odin.replies["odin.state"] = () => ({ queue: [], unbegun: [], usage: { costUsd: 0.5 } });
  it.tell({ kind: "sessionRestored", sessionId: "s0", title: "", messages: 3 }, { turnId: "", sessionId: "s0" });
  await vi.waitFor(() => expect(it.shown().text).toBe("$(eye) opus · $0.50"));
});

test("what helpers do is not taken for the turn", () => {
  const it = ready();
  it.tell(started);
  it.tell({ kind: "activityChanged", activity: "executing" });
  it.tell({ kind: "activityChanged", activity: "idle" }, { agentId: "helper" });
  it.tell(finished(1), { agentId: "helper" });
  expect(it.shown().text).toContain("Working");
});

test("what waits for the user stands out until it is decided", () => {
  const it = ready();
  it.tell(started);
  it.tell({ kind: "reviewOpened", proposal: { proposalId: "p", turnId: "t1", reason: "", files: [] } });
  expect(it.shown()).toMatchObject({ text: "$(bell-dot) Odin: changes to review", background: "warning" });
  it.store.place({ proposalId: "p", words: "12 of 30 · 3 of 6 files" });
  expect(it.shown()).toMatchObject({
    text: "$(bell-dot) Odin: 12 of 30 · 3 of 6 files",
    label: expect.stringContaining("needs your input: change 12 of 30"),
  });
  it.tell({ kind: "questionAsked", question: QUESTION });
  expect(it.shown().text).toBe("$(bell-dot) Odin: 1 question");
  it.tell({ kind: "questionAnswered", questionId: "q" });
  it.tell({ kind: "reviewClosed", proposalId: "p", receipts: [] });
  expect(it.shown().background).toBeUndefined();
});

test("a server that has died waits for nobody", () => {
  const it = ready();
  it.tell(started);
  it.tell({ kind: "questionAsked", question: QUESTION });
  it.become({ kind: "starting", why: "It has ended." });
  it.become({ kind: "ready", info: INFO });
  expect(it.shown().text).toBe("$(eye) opus");
});

test("a workspace that is not trusted is told, until it is", () => {
  const it = ready(false);
  expect(it.shown()).toMatchObject({ text: "$(shield) opus", label: expect.stringContaining("only Ask works") });
  it.store.set({ isTrusted: true });
  expect(it.shown().label).not.toContain("only Ask works");
});
