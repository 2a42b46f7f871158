// @vitest-environment jsdom
// The page as somebody uses it: by keyboard, by name, and after it was away.

import axe from "axe-core";
import { beforeEach, describe, expect, it } from "vitest";
import { pageHtml } from "../src/chat/page";
import { emptyState, type Item } from "../src/session/state";
import { find, named, Page, PERMISSION, PROBLEMS, press, text, turnWith, write } from "./chat-page";

let page: Page;

beforeEach(() => {
  page = new Page();
});

const message = () => find<HTMLTextAreaElement>(".box textarea");

describe("whoever works in the page", () => {
  const question: Item = {
    kind: "question",
    id: "question/q",
    question: {
      ...{ questionId: "q", kind: "permission", title: "Run it?", command: "rm x", allowText: true },
      options: [{ id: "deny", label: "Deny" }],
    },
    answer: null,
  };

  it("keeps the focus when nothing changes there", () => {
    page.show([turnWith([], { reason: "failed", number: 0 })], { hasEarlier: true });
    for (const name of ["Try Again", "Show Earlier Messages"]) {
      named(name).focus();
      const before = document.activeElement;
      page.take({
        type: "patches",
        patches: [{ kind: "head", head: { ...emptyState().head, usage: {}, costUsd: 1 } }],
      });
      page.show([turnWith([], { reason: "failed", number: 0 })], { hasEarlier: true });
      expect(document.activeElement).toBe(before);
    }
  });

  it("keeps a reason that is half written when all is shown again, also below what came earlier", () => {
    const turn = turnWith([text("One"), question], { id: "b", status: "running" });
    page.show([turn], { running: "b" });
    named("Deny with Reason…").click();
    const field = named("Reason. Odin passes it to the model.");
    write(field, "not in this fol");
    page.show([turnWith([], { id: "a" }), turn], { running: "b", hasEarlier: true });
    expect((named("Reason. Odin passes it to the model.") as HTMLTextAreaElement).value).toBe("not in this fol");
    expect(document.activeElement).toBe(field);
    expect([...document.querySelectorAll(".turn")]).toHaveLength(2);
    page.show([turnWith([], { id: "c" })]);
    expect(document.querySelector(".question")).toBeNull();
  });

  it("stops the turn with Escape, but not while it closes something else", () => {
    page.show([turnWith([], { status: "running" })], { running: "t" });
    write(message(), "@a");
    const attachment = { kind: "file", uri: "file:///a.py", label: "a.py" } as const;
    const completions = [{ word: "a.py", detail: "", icon: "file", attachment } as const];
    page.take({ type: "completions", request: page.of("complete")[0]?.request ?? 0, completions });
    press(message(), "Escape");
    expect(page.of("stop")).toEqual([]);
    press(message(), "Escape");
    expect(page.of("stop")).toEqual([{ type: "stop", queue: "keep" }]);
    page.show([turnWith([])]);
    press(message(), "Escape");
    expect(page.of("stop")).toHaveLength(1);
  });

  it("sees what comes of a message, wherever they have scrolled to", () => {
    page = new Page({ scroll: 100 });
    page.show([turnWith([text("long")])]);
    write(message(), "Go on");
    press(message(), "Enter");
    expect(page.saved?.scroll).toBeUndefined();
  });

  it("can write at once when they come by keys, and is where they click otherwise", () => {
    page.show([]);
    window.dispatchEvent(new Event("focus"));
    expect(document.activeElement).toBe(message());
    message().blur();
    window.dispatchEvent(new Event("pointerdown"));
    window.dispatchEvent(new Event("focus"));
    expect(document.activeElement).toBe(document.body);
    window.dispatchEvent(new Event("pointerup"));
  });
});

const RICH: Item[] = [
  { kind: "thinking", id: "1", text: "hm", isDone: true },
  text(
    "# Title\n\nSome `code` and [a link](https://example.org).\n\n```js\nlet a = 1\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |",
  ),
  {
    kind: "tool",
    id: "3",
    name: "EditTool",
    title: "edit a.py",
    result: "a.py +1 -1",
    status: "success",
    progress: "",
    files: ["/p/a.py"],
    added: 1,
    removed: 1,
    diff: "--- a\n+++ b\n@@ -1 +1 @@\n-a\n+b\n",
  },
  { kind: "todos", id: "4", todos: [{ id: "1", content: "Do it", status: "in_progress" }] },
  { kind: "helper", id: "helper/h", description: "look around", mode: "ask_mode", status: "running", summary: "" },
  { kind: "text", id: "6", agentId: "h", text: "inside", isDone: true },
  {
    kind: "review",
    id: "7",
    isOpen: true,
    files: [{ uri: "file:///p/a.py", operation: "edit", pending: 2, accepted: 0, rejected: 0 }],
  },
  { kind: "notice", id: "8", level: "warning", message: "careful" },
  PROBLEMS,
  PERMISSION,
];

/** Colours need a real browser. */
const CHECKED = { rules: { "color-contrast": { enabled: false } } };

it("is usable without seeing it", { timeout: 60_000 }, async () => {
  const queue = [{ turnId: "q", body: "next", mode: "ask_mode" as const, lost: false }];
  page.show(
    [turnWith(RICH, { status: "running" }), turnWith([], { id: "2", status: "lost", detail: "gone" })],
    {
      running: "t",
      activity: "executing",
      usage: { contextTokens: 10, contextLimit: 100 },
      queue,
    },
    { model: "anthropic/some-model" },
  );
  for (const fold of document.querySelectorAll("details")) fold.open = true;
  page.take({ type: "looked", looked: { kind: "file", uri: "file:///a.py", label: "a.py" } });
  write(message(), "@a");
  const attachment = { kind: "file", uri: "file:///a.py", label: "a.py" } as const;
  const completions = [{ word: "a.py", detail: "", icon: "file", attachment } as const];
  page.take({ type: "completions", request: page.of("complete")[0]?.request ?? 0, completions });
  const { violations } = await axe.run(document, CHECKED);
  expect(violations.map((it) => `${it.id}: ${it.nodes.map((node) => node.html).join(" ")}`)).toEqual([]);
});

it("is usable without seeing it when it is empty", { timeout: 60_000 }, async () => {
  const trouble = { why: "gone", actions: [{ title: "Restart", command: "odin.vscode.restart" }] };
  page.show([], {}, { model: "offline/odin", trouble });
  page.take({ type: "recent", sessions: [{ id: "s", title: "Earlier", when: "1 day ago" }] });
  const { violations } = await axe.run(document, CHECKED);
  expect(violations.map((it) => it.id)).toEqual([]);
});

it("may load nothing but our own script, style and font", () => {
  const html = pageHtml({
    language: "en",
    texts: {},
    nonce: "abc",
    source: "https://own",
    script: "s.js",
    style: "s.css",
  });
  const policy = html.match(/Content-Security-Policy" content="([^"]*)"/)?.[1];
  expect(policy).toBe(
    "default-src 'none'; script-src 'nonce-abc'; style-src https://own; font-src https://own; img-src data:",
  );
});
