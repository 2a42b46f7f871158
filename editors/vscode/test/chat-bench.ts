// A chat with a server of its own for each test, and what tests of it have in common.

import { beforeEach } from "vitest";
import { Chat } from "../src/chat/chat";
import type { Event, EventPage, EventRecord, Outcome, Question, SessionSummary, State } from "../src/protocol";
import { Store } from "../src/session/store";
import { FakeOdin, FakeStore } from "./chat-fakes";

export let odin: FakeOdin;
export let store: FakeStore;
export let chat: Chat;

beforeEach(() => {
  store = new FakeStore();
  reload();
});

/** The window is loaded anew, with another server; what was stored is still there. */
export function reload(): void {
  odin = new FakeOdin();
  chat = new Chat(odin, new Store(), store);
}

export const QUESTION: Question = {
  questionId: "q",
  kind: "permission",
  title: "Run it?",
  command: "rm x",
  options: [
    { id: "allow_once", label: "Allow once" },
    { id: "deny", label: "Deny" },
  ],
};
export const outcome = (turnId: string): Outcome => ({
  turnId,
  sessionId: "s1",
  mode: "ask_mode",
  reason: "end_turn",
  answer: "A",
});
export const summary = (sessionId: string, messages: number): SessionSummary => ({
  sessionId,
  title: "Title",
  createdAt: 0,
  updatedAt: 0,
  messages,
  firstMessage: "",
  locked: false,
  uri: "",
});
export type Told = [turnId: string, said: string, reason?: Outcome["reason"], ...events: Event[]];

/** What the server has kept of these turns; those without a reason have not ended. */
export function kept(...turns: Told[]): EventPage {
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
export function keeps(sessionId: string, page: EventPage, state: Partial<State> = {}): void {
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

export const shown = () => chat.store.shown.state.turns.map((it) => [it.head.said, it.head.status]);

/** Besides the role, which is wanted of every server. */
export const asked = () => odin.asked.map((it) => it.command).filter((it) => it !== "odin.role");

/** A turn whose outcome is held back until the test wants it. */
export function hold(): { finish(): void; fail(why: string): void } {
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

export const start = (turnId: string, text: string) =>
  odin.tell(turnId, { kind: "turnStarted", mode: "ask_mode", model: "m", text });
