// @vitest-environment jsdom
// The conversation in the page: turns, tools, how they ended, and what can be done about it.

import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Item } from "../src/session/state";
import { BROKEN, find, named, Page, PERMISSION, PROBLEMS, turnWith } from "./chat-page";

let page: Page;

beforeEach(() => {
  page = new Page();
});

const message = () => find<HTMLTextAreaElement>(".box textarea");

it("shows a call that is being written, and one that waits for others", () => {
  const draft: Item = { kind: "draft", id: "d", name: "EditTool", subject: "/project/a.py", text: "def f():" };
  const queued: Item = {
    ...{ kind: "tool", id: "c", name: "Grep", title: "search for x", result: "", status: "queued", progress: "" },
    ...{ files: [], added: 0, removed: 0 },
  };
  page.show([turnWith([draft, queued], { status: "running" })], { running: "t" });
  expect(find(".draft").textContent).toContain("EditTool: a.py");
  expect(find(".draft pre").textContent).toBe("def f():");
  expect(find(".tool summary").textContent).toContain("Search for x");
  expect(find(".tool summary").textContent).toContain("(waiting)");
});

it("cancels nothing but the compaction", () => {
  page.show([turnWith([], { status: "running" })], { running: "t", activity: "compacting", isCompacting: true });
  named("Cancel compaction").click();
  page.show([turnWith([], { status: "running" })], { running: "t", activity: "executing", isCompacting: true });
  expect(find(".activity").textContent).toContain("Compacting the session");
  expect(page.posted.filter((it) => it.type.startsWith("stop"))).toEqual([{ type: "stopCompaction" }]);
  page.show([turnWith([], { status: "running" })], { running: "t", activity: "executing" });
  expect(() => named("Cancel compaction")).toThrow("0 are named");
});

describe("the conversation", () => {
  it("is read out when a message is finished, not while it grows", () => {
    page.show([turnWith([], { status: "running" })], { running: "t" });
    const item: Item = { kind: "text", id: "x", text: "Half", isDone: false };
    page.take({ type: "patches", patches: [{ kind: "item", turnId: "t", item }] });
    page.take({ type: "patches", patches: [{ kind: "grow", turnId: "t", itemId: "x", text: " and whole" }] });
    expect(find("[role=status]").textContent).toBe("");
    expect(find(".markdown").textContent?.trim()).toBe("Half and whole");
    page.take({
      type: "patches",
      patches: [{ kind: "item", turnId: "t", item: { ...item, text: "Half and whole", isDone: true } }],
    });
    expect(find("[role=status]").textContent).toBe("Half and whole");
  });

  it("offers to go on only with the last turn that did not come to its end", () => {
    page.show([
      turnWith([], { id: "1", number: 0, reason: "aborted" }),
      turnWith([], { id: "2", number: 1, reason: "max_turns" }),
    ]);
    expect(document.querySelectorAll(".is-last .only-last")).toHaveLength(1);
    expect(find(".is-last .only-last").textContent).toBe("Continue");
    find(".is-last .only-last").click();
    expect(page.of("continue")).toEqual([{ type: "continue", turnId: "2" }]);
    page.show([turnWith([], { number: 0, reason: "end_turn" })]);
    expect(document.querySelector(".only-last")).toBeNull();
  });

  it("offers to say again what the server has not taken", () => {
    page.show([turnWith([], { status: "lost", reason: "failed", detail: "it cannot be started" })]);
    named("Try Again").click();
    expect(page.of("retry")).toEqual([{ type: "retry", turnId: "t" }]);
  });

  it("says when it is of use to try again", () => {
    vi.useFakeTimers();
    try {
      const problem = { kind: "limited", retryAfter: 2 } as const;
      page.show([turnWith([], { number: 0, reason: "failed", problem, retryAt: Date.now() / 1000 + 2 })]);
      expect(find(".only-last").textContent).toBe("Try Again in 2 s");
      vi.advanceTimersByTime(1000);
      expect(find(".only-last").textContent).toBe("Try Again in 1 s");
      vi.advanceTimersByTime(1000);
      named("Try Again").click();
    } finally {
      vi.useRealTimers();
    }
    expect(page.of("continue")).toEqual([{ type: "continue", turnId: "t" }]);
  });

  it("offers to set the key that is not accepted, whatever the words are", () => {
    const failed = { number: 0, reason: "failed", detail: "ANTHROPIC_API_KEY" } as const;
    page.show([turnWith([], { ...failed, problem: { kind: "unavailable" } })]);
    expect(document.body.textContent).not.toContain("Set API Key…");
    page.show([turnWith([], { ...failed, detail: "no", problem: { kind: "key", provider: "google" } })]);
    named("Set API Key…").click();
    expect(page.of("run")).toEqual([{ type: "run", command: "odin.vscode.setKey", provider: "google" }]);
    expect(named("Set API Key…").hasAttribute("secondary")).toBe(false);
    expect(named("Try Again").hasAttribute("secondary")).toBe(true);
  });

  it("says in a sentence when it tries again, how often, and why", () => {
    const running = [turnWith([], { status: "running" })];
    const retry = { attempt: 2, attempts: 6, wait: 5.2, reason: "Anthropic's limit for this key is reached" };
    page.show(running, { running: "t", activity: "cooling", detail: "cooldown 5 s, retry 2/6", retry });
    expect(find(".activity").textContent).toBe(`Trying again in 5 s (attempt 2 of 6): ${retry.reason}`);
    page.show(running, { running: "t", activity: "retrying_key", retry: { ...retry, wait: 0 } });
    expect(find(".activity").textContent).toBe(`Trying another API key (attempt 2 of 6): ${retry.reason}`);
  });

  it("says that it waits for the user while it asks, whatever else goes on", () => {
    page.show([turnWith([PERMISSION], { status: "running" })], { running: "t", activity: "executing" });
    expect(find(".activity").textContent).toBe("Waiting for you");
  });

  it("has words that come back in the mode in which they were said", () => {
    page.show([]);
    page.take({ type: "draft", text: "why?", mode: "plan_mode" });
    expect(find<HTMLSelectElement>("select").value).toBe("plan_mode");
  });

  it("offers another model where one provider fails", () => {
    page.show([turnWith([], { number: 0, reason: "failed", problem: { kind: "unavailable" } })]);
    named("Other Model…").click();
    expect(page.of("run")).toEqual([{ type: "run", command: "odin.vscode.selectModel" }]);
  });

  it("names a plan by its title, and has it run or opened", () => {
    page.show([turnWith([], { mode: "plan_mode", plan: "file:///s/1.plan/Greet%20louder.plan.md" })]);
    expect(find(".plan").textContent).toBe("Greet louder");
    expect(named("Run Plan").hasAttribute("secondary")).toBe(false);
    named("Run Plan").click();
    named("Open Plan").click();
    expect(page.of("runPlan")).toEqual([{ type: "runPlan", turnId: "t" }]);
    expect(page.of("openPlan")).toEqual([{ type: "openPlan", turnId: "t" }]);
  });

  it("says what was undone, and what was left and why", () => {
    const kept = [{ uri: "file:///w/b%20c.py", reason: "it has changed since" }];
    const changed = ["file:///w/a.py", "file:///w/b%20c.py"];
    page.show([turnWith([], { changed, undone: { restored: ["file:///w/a.py"], kept } })]);
    expect(find(".end").textContent).toContain("Changes undone");
    expect(find(".end li").textContent).toBe("b c.py was not undone: it has changed since");
    expect(find(".end").textContent).not.toContain("Undo Changes");
    page.show([turnWith([], { changed, undone: { restored: [], kept } })]);
    expect(find(".end").textContent).toContain("Nothing was undone");
    named("Undo Changes").click();
    expect(page.of("undo")).toEqual([{ type: "undo", turnId: "t" }]);
  });

  it("says what a turn waits for that has begun before Odin was started", () => {
    page.show([turnWith([], { number: 0, status: "suspended" })]);
    expect(find(".end").textContent).toBe("Continues when you have decided on all changes");
  });

  it("shows earlier messages when they are wanted", () => {
    page.show([turnWith([])]);
    expect(find(".earlier").hidden).toBe(true);
    page.show([turnWith([])], { hasEarlier: true });
    named("Show Earlier Messages").click();
    expect(page.of("earlier")).toHaveLength(1);
  });

  it("stays where it was when something comes above it", () => {
    page.show([turnWith([], { id: "2" })], { hasEarlier: true });
    const main = find("main");
    Object.defineProperty(main, "scrollHeight", { get: () => 600 + 400 * main.querySelectorAll(".turn").length });
    main.scrollTop = 30;
    page.show([turnWith([], { id: "1" }), turnWith([], { id: "2" })]);
    expect(main.scrollTop).toBe(430);
  });

  it("leaves whoever scrolls up where they are, also while text is coming", () => {
    const main = find("main");
    Object.defineProperty(main, "clientHeight", { value: 100 });
    Object.defineProperty(main, "scrollHeight", { value: 1000 });
    page.show([turnWith([])]);
    expect(main.scrollTop).toBe(1000);
    main.scrollTop = 0;
    page.show([turnWith([]), turnWith([], { id: "2" })]);
    expect(main.scrollTop).toBe(0);
    expect(find(".to-end").hidden).toBe(false);
  });

  it("scrolls to a turn that somebody asks for, as soon as it is there", () => {
    page.show([turnWith([], { id: "2" })]);
    page.take({ type: "turn", turnId: "1" });
    vi.spyOn(HTMLElement.prototype, "getBoundingClientRect").mockImplementation(function (this: HTMLElement) {
      return { top: this.tagName === "ARTICLE" ? 70 : 20 } as DOMRect;
    });
    page.show([turnWith([], { id: "1" }), turnWith([], { id: "2" })]);
    vi.restoreAllMocks();
    expect(find("main").scrollTop).toBe(50);
    expect(page.saved?.scroll).toBe(50);
  });

  it.each(["a.py +5 -4", "a.py +5 -4 (in part)"])("tells once how much was changed: %s", (result) => {
    const about = { name: "EditTool", title: "edit /w/a.py", result, status: "success", progress: "" } as const;
    page.show([turnWith([{ kind: "tool", id: "1", ...about, files: ["/w/a.py"], added: 5, removed: 4 }])]);
    expect(find(".tool summary").textContent).toBe(`Edited ${result.replace(" +5 -4", "")}+5−4`);
  });

  it("can cut the folder before the name of the file", () => {
    const about = {
      name: "Read",
      title: "read /w/src/deep/a.py",
      result: "src/deep/a.py 1-5",
      status: "success",
    } as const;
    page.show([turnWith([{ kind: "tool", id: "1", ...about, progress: "", files: [], added: 0, removed: 0 }])]);
    expect([...find(".tool-title").children].map((it) => it.textContent)).toEqual(["Read ", "src/deep/", "a.py 1-5"]);
    expect(find(".tool-title .folder").textContent).toBe("src/deep/");
  });

  it("shows the output of the user's own command, how it has ended and how long it took", () => {
    const about = { name: "ExecuteCommand", title: "run ls", result: "exit code 1", status: "success" } as const;
    const ran: Item = {
      kind: "tool",
      id: "1",
      ...about,
      progress: "a",
      command: "ls",
      files: [],
      added: 0,
      removed: 0,
      durationMs: 1234,
    };
    page.show([turnWith([{ ...ran, isOwn: true }], { said: "!ls" })]);
    expect(find<HTMLDetailsElement>(".tool").open).toBe(true);
    expect(find(".tool").textContent).toBe("Run lsexit code 1 · 1.2 s$ lsa");
    page = new Page();
    page.show([turnWith([ran])]);
    expect(find<HTMLDetailsElement>(".tool").open).toBe(false);
  });

  it("keeps what was folded out", () => {
    const thinking: Item = { kind: "thinking", id: "th", text: "Deep *thought*", isDone: true };
    page.show([turnWith([thinking])]);
    const fold = find<HTMLDetailsElement>("details.thinking");
    fold.open = true;
    fold.dispatchEvent(new Event("toggle"));
    expect(fold.textContent).toContain("Deep thought");
    page = new Page(page.saved);
    page.show([turnWith([thinking])]);
    expect(find<HTMLDetailsElement>("details.thinking").open).toBe(true);
  });

  it("says how long was thought, once that is known", () => {
    const thinking = { kind: "thinking", id: "th", text: "hm" } as const;
    const labelOf = (item: Item) => {
      page.show([turnWith([item])]);
      return find(".thinking summary").textContent;
    };
    expect(labelOf({ ...thinking, isDone: false })).toBe("Thinking…");
    expect(labelOf({ ...thinking, isDone: true })).toBe("Thought about it");
    expect(labelOf({ ...thinking, isDone: true, durationMs: 2400 })).toBe("Thought for 2.4 s");
  });

  it("says what can be done about a server that does not run", () => {
    const actions = [{ title: "Restart", command: "odin.vscode.restart" }];
    page.show([], {}, { server: "failed", trouble: { why: "odin-lsp keeps ending", actions } });
    expect(find(".trouble").textContent).toContain("odin-lsp keeps ending");
    named("Restart").click();
    expect(page.of("run")).toEqual([{ type: "run", command: "odin.vscode.restart" }]);
  });

  it("has one card for a server that is not installed, with one button that stands out and no alarm", () => {
    const actions = [
      { title: "Install", command: "odin.vscode.install" },
      { title: "Help", command: "odin.vscode.help" },
    ];
    page.show([], {}, { server: "failed", trouble: { why: "odin-lsp is not installed.", actions } });
    const primary = [...document.querySelectorAll(".empty vscode-button:not([secondary])")];
    expect(primary.map((it) => it.textContent)).toEqual(["Install"]);
    expect(find(".trouble").hidden).toBe(true);
    expect(document.querySelector(".example")).toBeNull();
    named("Install").click();
    expect(page.of("run")).toEqual([{ type: "run", command: "odin.vscode.install" }]);
  });

  it("offers nothing to ask before there is a server, and says what it waits for", () => {
    page.show([], {}, { server: "starting" });
    expect(find(".empty").textContent).toBe("Starting Odin…");
    page.show([], {}, { server: "starting", isRestoring: true });
    expect(find(".empty").textContent).toBe("Restoring the last session…");
    page.show([], {}, { server: "ready" });
    expect(document.querySelectorAll(".example")).toHaveLength(3);
  });

  it("begins with examples, and with how to set a key if there is none", () => {
    page.show([], {}, { model: "offline/odin" });
    named("Set API Key…").click();
    find(".example").click();
    expect(page.of("run")).toEqual([{ type: "run", command: "odin.vscode.setKey" }]);
    expect(message().value).toBe("Explain how this file works");
  });

  it("looks for models on this computer once, where there is no other, and offers the first", () => {
    page.show([], {}, { model: "anthropic/claude" });
    expect(page.of("findLocal")).toEqual([]);
    page.show([], {}, { model: "offline/odin" });
    page.show([], {}, { model: "offline/odin" });
    expect(page.of("findLocal")).toHaveLength(1);
    page.take({ type: "local", models: [{ model: "ollama/qwen3:8b", name: "Ollama" }] });
    expect(find(".card").textContent).toContain("Ollama runs on this computer.");
    expect(named("Set API Key…").hasAttribute("secondary")).toBe(true);
    named("Use qwen3:8b").click();
    expect(page.of("useModel")).toEqual([{ type: "useModel", model: "ollama/qwen3:8b" }]);
  });
});

it("offers to accept or drop what still waits when its turn is over", () => {
  const file = { uri: "file:///p/a.py", operation: "edit" as const, pending: 1, accepted: 2, rejected: 0 };
  const item = { kind: "review" as const, id: "p", isOpen: true, waits: true, files: [file] };
  page.show([turnWith([item])]);
  const place = { proposalId: "p", words: "3 of 3" };
  const window = { server: "ready", model: "", isRestoring: false, position: place } as const;
  page.take({ type: "patches", patches: [{ kind: "window", window }] });
  const card = find(".review");
  expect(card.textContent).toContain("1 change waits for you");
  expect(card.textContent).toContain("3 of 3");
  named("Accept All").click();
  named("Drop").click();
  expect(page.of("review").map((it) => it.decision)).toEqual(["accept", "drop"]);
});

it("shows what edits did to problems, and which errors a turn has left", () => {
  page.show([turnWith([PROBLEMS], { left: [BROKEN] })]);
  const words = find(".problems").textContent;
  expect(words).toContain("Problems: 1 introduced, 1 fixed, 2 remaining");
  expect(words).toContain("my b.ts:3Expected 3 arguments.");
  expect(words).toContain("a.ts:7 x is not used. (fixed)");
  expect(find(".end .problems").textContent).toContain("1 new error left by this turn");
  for (const link of document.querySelectorAll<HTMLElement>(".problems .link")) link.click();
  expect(page.of("openFile").map((it) => it.path)).toEqual(["/p/my%20b.ts:3", "/p/my%20b.ts:3"]);
  page.show([turnWith([], { left: [BROKEN], undone: { restored: ["file:///p/my%20b.ts"], kept: [] } })]);
  expect(document.querySelector(".problems")).toBeNull();
});
