// Sessions, and that nothing of them is lost in a reload.

import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Event, Outcome } from "../src/protocol";
import {
  asked,
  chat,
  hold,
  keeps,
  kept,
  odin,
  outcome,
  reload,
  shown,
  start,
  store,
  summary,
  type Told,
} from "./chat-bench";
import { READY, settled } from "./chat-fakes";

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

    reload();
    const unbegun = [
      { turnId: String(waited?.turnId), body: "And then this", mode: "ask_mode", timestamp: 0 } as const,
    ];
    keeps("s1", kept(["old", "First", "end_turn"], ["cut", "Long work", "aborted", HALF]), { unbegun });
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
    reload();
    odin.state = { kind: "failed", why: "not installed", actions: [] };
    odin.replies["odin.session.resume"] = () => {
      throw new Error("not installed");
    };
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

  it("takes what is told while the server answers how things are after that answer, which may be older", async () => {
    keeps("s1", { ...kept(["a", "One", "end_turn"]), seq: 6 });
    odin.replies["odin.state"] = () => {
      odin.tell("b", { kind: "turnStarted", mode: "ask_mode", model: "m", text: "Two" }, "s1", "main", 7);
      odin.tell("c", { kind: "turnQueued", position: 1 }, "s1", "main", 8);
      odin.tell("c", { kind: "turnStarted", mode: "ask_mode", model: "m", text: "Three" }, "s1", "main", 10);
      const queue = [{ turnId: "c", body: "Three", mode: "ask_mode" }];
      return { executing: false, suspended: false, compacting: false, queue, unbegun: [], usage: {} };
    };
    await chat.sessions.open("s1");
    expect(shown().at(-1)).toEqual(["Three", "running"]);
    expect(chat.store.shown.state.head.queue).toEqual([]);
  });

  it("shows a review once, although its turn is told after it", async () => {
    keeps("s1", { ...kept(["a", "One", "end_turn"]), seq: 6 });
    const proposal = { proposalId: "p", turnId: "b", sessionId: "s1", reason: "", files: [] };
    odin.replies["odin.review.list"] = () => {
      if (odin.of("odin.state").length === 0) return { proposals: [] };
      odin.tell("b", { kind: "turnStarted", mode: "edit_mode", model: "m", text: "Two" }, "s1", "main", 7);
      odin.tell("b", { kind: "reviewOpened", proposal }, "s1", "main", 8);
      return { proposals: [proposal] };
    };
    await chat.sessions.open("s1");
    const reviews = chat.store.shown.state.turns.flatMap((turn) =>
      turn.items.filter((it) => it.kind === "review").map((it) => [turn.head.said, it.isOpen]),
    );
    expect(reviews).toEqual([["Two", true]]);
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
