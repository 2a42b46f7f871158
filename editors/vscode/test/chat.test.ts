// Turns, the queue, and what is said of them.

import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Returned } from "../src/chat/messages";
import type { ContextItem, Event, QueuedMessage } from "../src/protocol";
import { applyPatch } from "../src/session/patches";
import { windowOf } from "../src/session/selectors";
import { emptyPage } from "../src/session/state";
import { chat, hold, keeps, kept, odin, outcome, start } from "./chat-bench";
import { READY, settled } from "./chat-fakes";

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
    const given: Returned[] = [];
    chat.turns.onDidReturn((returned) => given.push(returned));
    await chat.turns.cancel("return");
    expect(given).toEqual([{ text: "Two\n\nThree", context: [], pictures: [] }]);
    expect(chat.store.shown.state.head.queue).toEqual([]);
  });

  it("is given back with its images and context, also what another window has sent", async () => {
    const [file, other] = ["file:///p/a.ts", "file:///p/plan.png"].map((uri) => ({ kind: "file", uri }) as const);
    const picture = { mediaType: "image/png", name: "own.png", data: "b3du" };
    void chat.turns.say("edit_mode", "Three", [file as ContextItem], [picture]);
    await settled();
    const { turnId = "" } = chat.store.shown.state.head.queue[1] ?? {};
    const image = (digest: string, name: string) => ({ digest, mediaType: "image/png", name });
    const returned: QueuedMessage[] = [
      { turnId, body: "Three", mode: "edit_mode", timestamp: 0, attached: [image("1", "own.png")] },
      {
        ...{ turnId: "other", body: "Four", mode: "edit_mode", timestamp: 0, context: [other as ContextItem] },
        attached: [image("2", "plan.png"), image("3", "theirs.png"), image("4", "gone.png")],
      },
    ];
    odin.replies["odin.cancel"] = () => ({ cancelled: true, returned });
    odin.replies["odin.session.attachment"] = ({ digest }) => {
      if (digest === "4") throw new Error("gone");
      return { data: `data of ${digest}` };
    };
    const given: Returned[] = [];
    chat.turns.onDidReturn((it) => given.push(it));
    await chat.turns.cancel("return");
    const theirs = { mediaType: "image/png", name: "theirs.png", data: "data of 3" };
    expect(given).toEqual([{ text: "Three\n\nFour", context: [file, other], pictures: [picture, theirs] }]);
  });

  it("goes with its images and context when it is sent after its server was killed and the window loaded anew", async () => {
    const context: ContextItem[] = [{ kind: "file", uri: "file:///p/a.ts" }];
    const attached = [{ digest: "1", mediaType: "image/png", name: "shot.png" }];
    const unbegun: QueuedMessage[] = [{ turnId: "x", body: "Two", mode: "ask_mode", timestamp: 0, context, attached }];
    keeps("s2", kept(["a", "One", "aborted"]), { unbegun });
    await chat.sessions.open("s2");
    odin.replies["odin.ask"] = (argument) => outcome(String(argument.turnId));
    await chat.turns.sendQueued("x");
    expect(odin.of("odin.ask").at(-1)).toMatchObject({ text: "Two", context, images: attached });
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

  it("does not show a message as waiting that has begun before that is known", async () => {
    const queue = [{ turnId: "x", body: "From a code action", mode: "ask_mode", timestamp: 0 }];
    odin.replies["odin.queue"] = () => {
      start("x", "From a code action");
      return { queue };
    };
    odin.tell("x", { kind: "turnQueued", position: 2 });
    await settled();
    expect(chat.store.shown.state.head.queue.map((it) => it.body)).toEqual(["Two"]);
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
