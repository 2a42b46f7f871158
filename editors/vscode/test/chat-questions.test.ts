// Questions in the chat.

import { describe, expect, it } from "vitest";
import { chat, hold, keeps, kept, odin, QUESTION, start, summary } from "./chat-bench";
import { cancellation, settled } from "./chat-fakes";

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
