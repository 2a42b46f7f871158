// @vitest-environment jsdom
// The chat in a language in which every text stands in brackets: what a user reads outside of them cannot be translated.
// What comes from models, servers and users is Greek here.

import { afterEach, beforeEach, expect, test } from "vitest";
import bundle from "../l10n/bundle.l10n.json";
import { speak } from "../src/l10n";
import type { Diagnostic, Option, Outcome, Question, SentContext } from "../src/protocol";
import type { Item, ToolItem, TurnHead, WindowState } from "../src/session/state";
import { activityName } from "../src/words";
import { named, Page, turnWith } from "./chat-page";

const NAMES = /Odin|file:|⟨U\+\w+⟩|\bs\b/g;
const READ = ["alt", "aria-label", "placeholder", "title"];
const REASONS: Outcome["reason"][] = [
  ...(["end_turn", "max_turns", "max_budget", "max_tokens", "refused"] as const),
  ...(["loop", "interrupted", "aborted", "failed"] as const),
];
const uri = "file:///ω/α.ω";
const range = { start: { line: 2, character: 0 }, end: { line: 9, character: 0 } };
const problem: Diagnostic = { uri, line: 3, severity: "error", message: "λάθος" };
const options: Option[] = [
  { id: "allow_once", label: "ναι" },
  { id: "allow_always", label: "πάντα", description: "γιατί" },
  { id: "deny", label: "όχι" },
];
const asked: Question = { questionId: "1", kind: "permission", title: "ερώτηση", options, allowText: true };
const tool: ToolItem = {
  ...{ kind: "tool", id: "tool", name: "ω", title: "έργο", result: "λόγος", status: "success" },
  ...{ progress: "έξοδος", files: ["/ω/α.ω", "/ω/β.ω"], added: 2, removed: 1, diff: "+α\n-β\n", command: "ω" },
};
let page: Page;

beforeEach(() => {
  const texts = Object.fromEntries(Object.keys(bundle).map((it) => [it, `⟦${it}⟧`]));
  speak(texts, "el");
  page = new Page();
});

afterEach(() => speak(undefined, "en"));

/** What is read on the page and is in no brackets, as far as it is Latin. */
function untranslated(): string[] {
  const elements = [...document.body.querySelectorAll<HTMLElement>("*")];
  const texts = elements.flatMap((it) => [...it.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE));
  const words = texts.map((it) => it.textContent ?? "");
  const attributes = elements.flatMap((it) => READ.flatMap((name) => it.getAttribute(name) ?? []));
  return [...words, ...attributes].map(withoutBrackets).filter((it) => /\p{Script=Latin}/u.test(it));
}

function withoutBrackets(text: string): string {
  const inner = text.replaceAll(/⟦[^⟦⟧]*⟧/g, "");
  return inner === text ? text.replaceAll(NAMES, "") : withoutBrackets(inner);
}

function show(items: Item[], head: Partial<TurnHead> = {}, window: Partial<WindowState> = {}): void {
  page.show([turnWith(items, { said: "γιατί;", model: "ω/ω", ...head })], {}, { model: "ω/ω", ...window });
}

test("a text outside of brackets would be found", () => {
  show([{ kind: "notice", id: "1", level: "info", message: "not translated" }]);
  expect(untranslated()).toEqual(["not translated"]);
});

test.each<[string, Partial<WindowState>]>([
  [
    "there is no server",
    { server: "failed", trouble: { why: "ω", actions: [{ title: "ω", command: "odin.vscode.install" }] } },
  ],
  ["the server has failed", { server: "failed", trouble: { why: "ω", actions: [] } }],
  ["the server starts", { server: "starting" }],
  ["the last session comes back", { isRestoring: true }],
  ["there is no model", { model: "offline/ω" }],
  ["all is there", { model: "ω/ω" }],
])("before anything was said: %s", (_, window) => {
  page.show([], {}, window);
  page.take({ type: "recent", sessions: [{ id: "1", title: "ω", when: "χθες" }] });
  page.take({ type: "local", models: [{ model: "ω/ω", name: "ω" }] });
  expect(untranslated()).toEqual([]);
});

test.each<[string, Item[]]>([
  [
    "an answer",
    [
      {
        kind: "text",
        id: "1",
        text: "α\n\n|α|β|\n|-|-|\n|γ|δ|\n\n![α](ω)\n\n```\nω\n```\n\n```sh\nω\n```",
        isDone: true,
      },
    ],
  ],
  ["thoughts", ["1", "2"].map((id): Item => ({ kind: "thinking", id, text: "ω", isDone: id === "1" }))],
  [
    "tools",
    (["queued", "running", "success", "error", "cancelled"] as const).map((status) => ({
      ...tool,
      id: status,
      status,
    })),
  ],
  [
    "tools whose result says it all",
    ["DeleteFile", "EditTool", "MoveFile", "Read", "WriteFile"].map((name) => ({ ...tool, id: name, name })),
  ],
  ["a call that is written", [{ kind: "draft", id: "1", name: "ω", subject: "", text: "ω" }]],
  [
    "subagents",
    (["running", "completed", "stopped", "failed", "cancelled"] as const).map(
      (status): Item => ({
        kind: "helper",
        id: `helper/${status}`,
        description: "ω",
        mode: "ask_mode",
        status,
        summary: "",
      }),
    ),
  ],
  [
    "todos",
    [
      {
        kind: "todos",
        id: "1",
        todos: (["pending", "in_progress", "completed"] as const).map((status) => ({
          id: status,
          content: "ω",
          status,
        })),
      },
    ],
  ],
  [
    "problems",
    [{ kind: "problems", id: "1", introduced: [problem], fixed: [problem], found: [problem], remaining: 2 }],
  ],
  [
    "reviews",
    [true, false].flatMap((isOpen) =>
      [true, false].map((waits): Item => {
        const operations = ["edit", "create", "delete", "rename"] as const;
        const files = operations.map((operation) => ({ uri, operation, pending: 1, accepted: 1, rejected: 1 }));
        return { kind: "review", id: `${isOpen}${waits}`, files, isOpen, waits };
      }),
    ),
  ],
])("what comes of a message: %s", (_, items) => {
  show(items);
  expect(untranslated()).toEqual([]);
});

test.each<[string, Partial<Question>]>([
  ["a command", { command: "ω\u200bω", cwd: "/ω", detail: "γιατί", editable: true, default: "deny" }],
  ["without options", { kind: "question", options: [] }],
  ["with options", { kind: "question" }],
  ["with several answers", { kind: "question", multiple: true }],
])("a question: %s", (_, more) => {
  const question = { ...asked, ...more };
  show([{ kind: "question", id: "1", question, until: Date.now() / 1000 + 60, answer: null }]);
  expect(untranslated()).toEqual([]);
  for (const answer of ["gone", { labels: ["ναι"], text: "ω", command: "ω" }] as const) {
    show([
      {
        kind: "question",
        id: "1",
        question: { ...question, options: [] },
        answer: answer === "gone" ? answer : { ...answer, labels: ["ναι"] },
      },
    ]);
    expect(untranslated()).toEqual([]);
  }
});

test("a rule is shown in the user's language before it is stored", () => {
  show([{ kind: "question", id: "1", question: asked, answer: null }]);
  named("πάντα").click();
  expect(untranslated()).toEqual([]);
});

test.each(REASONS)("how a turn ends: %s", (reason) => {
  const undone = { restored: [uri], kept: [{ uri, reason: "ω" }], undoId: "1" };
  const usage = { inputTokens: 20, outputTokens: 30, costUsd: 0.2 };
  const more = { detail: "ω", plan: "file:///ω/ω.plan.md", changed: [uri], left: [problem], usage, durationMs: 2000 };
  for (const kind of ["key", "limited"] as const) {
    const head = { reason, ...more, number: 0, problem: { kind }, retryAt: Date.now() / 1000 + 60 };
    show([], head);
    expect(untranslated()).toEqual([]);
    show([], { ...head, undone });
    expect(untranslated()).toEqual([]);
  }
  show([], { status: "suspended" });
  expect(untranslated()).toEqual([]);
});

test("what goes along, and what has gone along", () => {
  page.take({ type: "looked", looked: { kind: "selection", uri, label: "ω", range } });
  page.take({ type: "attached", attachments: [{ kind: "problems", label: "ω" }] });
  page.take({ type: "pictures", pictures: [{ mediaType: "image/png", data: "", name: "ω" }] });
  const kinds = ["selection", "file", "folder", "diagnostics", "command", "text"] as const;
  const context = kinds.flatMap((kind): SentContext[] => [
    { kind, uri, name: "ω" },
    { kind, ...(kind === "selection" ? { uri, firstLine: 2, lastLine: 4 } : {}) },
  ]);
  show([], {
    context: context.filter((it) => it.uri ?? it.kind !== "file"),
    attached: [{ digest: "1", mediaType: "image/png", name: "ω" }],
  });
  expect(untranslated()).toEqual([]);
});

test("a turn that runs, and what waits behind it", () => {
  const queue = [false, true].map((lost) => ({ turnId: String(lost), body: "ω", mode: "plan_mode" as const, lost }));
  const usage = { contextTokens: 50, contextLimit: 200 };
  const retry = { attempt: 2, attempts: 4, wait: 5, reason: "ω" };
  for (const running of ["t", undefined]) {
    const turns = [turnWith([], { said: "ω", status: running ? "running" : "ended" })];
    for (const isCompacting of [true, false]) {
      const head = { ...(running ? { running } : {}), queue, usage, isCompacting, hasEarlier: true };
      page.show(turns, { ...head, activity: "cooling", retry }, { model: "ω/ω" });
      expect(untranslated()).toEqual([]);
      page.show(turns, { ...head, activity: "streaming" }, { model: "" });
      expect(untranslated()).toEqual([]);
    }
  }
  expect(withoutBrackets(activityName("verifying"))).toBe("");
});
