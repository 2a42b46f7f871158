// Everything that a server may send, with hostile text in every field of it, in what VS Code shows for Odin outside of
// the page: messages, lists, trees, the status bar, lenses and hovers. It is harmless, and nothing throws.

import { beforeEach, expect, it, vi } from "vitest";
import type { QuickPickItem } from "vscode";

const { seen, fake } = vi.hoisted(() => {
  const seen: { where: string; text: string; isLine: boolean }[] = [];
  const see = (where: string, text: unknown, isLine = true) => {
    if (typeof text === "string") seen.push({ where, text, isLine });
  };
  const message = async (text: string, ...more: unknown[]) => {
    see("message", text);
    for (const it of more) {
      if (typeof it === "object") see("modal", (it as { detail?: string }).detail, false);
      else see("button", it);
    }
    return more.findLast((it) => typeof it === "string");
  };
  const list = (items: readonly QuickPickItem[], about: object) => {
    for (const it of [about, ...items] as Record<string, unknown>[]) {
      for (const name of ["title", "placeHolder", "placeholder", "label", "description", "detail"]) see(name, it[name]);
    }
  };
  class Markdown {
    appendMarkdown(text: string) {
      see("markdown", text, false);
      return this;
    }
    appendCodeblock(text: string) {
      see("code", text, false);
      return this;
    }
  }
  const picker = () => ({
    items: [] as QuickPickItem[],
    selectedItems: [] as QuickPickItem[],
    onDidAccept(this: { selectedItems: QuickPickItem[]; items: QuickPickItem[] }, run: () => void) {
      queueMicrotask(() => {
        list(this.items, this);
        this.selectedItems = this.items.slice(0, 1);
        run();
      });
    },
    onDidHide: () => {},
    onDidChangeValue: () => {},
    onDidTriggerButton: () => {},
    show: () => {},
    dispose: () => {},
  });
  const fake = {
    window: {
      showInformationMessage: message,
      showWarningMessage: message,
      showErrorMessage: message,
      setStatusBarMessage: (text: string) => see("status", text),
      showInputBox: async (about: object) => {
        list([], about);
        return "words";
      },
      showQuickPick: async (items: PromiseLike<QuickPickItem[]>, about: { canPickMany?: boolean }) => {
        const shown = await items;
        list(shown, about);
        return about.canPickMany ? shown : shown[0];
      },
      createQuickPick: picker,
      withProgress: (options: { title: string }, work: (progress: object, token: object) => unknown) => {
        see("progress", options.title.replace(/\[[^\]]*\]\(command:odin[^)]*\)/g, ""));
        const report = (told: { message: string }) => see("progress", told.message);
        return work({ report }, { onCancellationRequested: () => {} });
      },
    },
    commands: { executeCommand: async (_: string, ...given: unknown[]) => see("tab", given[2]) },
    ProgressLocation: { Notification: 15 },
    QuickPickItemKind: { Separator: -1 },
    MarkdownString: Markdown,
    CodeLens: class {
      constructor(
        readonly range: unknown,
        readonly command: { title: string },
      ) {
        see("lens", command.title);
      }
    },
    ThemeIcon: class {},
    Uri: { file: (path: string) => ({ path }), parse: (path: string) => ({ path }) },
    workspace: {},
  };
  return { seen, fake };
});
vi.mock("vscode", () => fake);

import type { Chat } from "../src/chat/chat";
import { notificationLinks, notificationText } from "../src/chat/notifying";
import type { ReadOnlyDocuments } from "../src/documents";
import { InlineEdit } from "../src/inline/edit";
import { piecesOf } from "../src/inline/words";
import type { SessionSummary } from "../src/protocol";
import type { Keys } from "../src/secrets";
import { decoded, nameOf, oneLine, titleOf } from "../src/session/reviews";
import { sessionItem } from "../src/sessions";
import { SettingCommands } from "../src/setting-commands";
import { show, shownFor } from "../src/status";
import * as telling from "../src/telling";
import { FakeOdin } from "./chat-fakes";
import { expectHarmless, hostileValues } from "./hostile";

const { questions, reviews, texts, answers } = hostileValues();

beforeEach(() => {
  seen.length = 0;
});

function expectAllHarmless(): void {
  expect(seen.length).toBeGreaterThan(0);
  for (const { where, text, isLine } of seen) {
    expectHarmless(text, { isLine });
    if (where === "message" || where === "progress") expect(text).not.toContain("](");
    else if (where !== "modal") expect(text).not.toContain("$(");
  }
}

const WORDS = [...texts, "$(error) [Allow](command:odin.chat.answer) 100% %zz", "a\nb\r\nc"];

it("tells, asks and lists what others wrote as it looks, and takes what was given", async () => {
  for (const words of WORDS) {
    expect(await telling.tellUser("error", words, "Other", words)).toBe(words);
    expect(await telling.askUser(words, { detail: words }, words)).toBe(words);
    telling.tellUserBriefly(words, 1);
    await telling.askForText({ title: words, prompt: words });
    const item = { label: words, description: words, detail: words, id: words };
    expect(await telling.chooseFrom([item], { title: words, placeHolder: words })).toBe(item);
    expect(await telling.chooseFrom([item], { canPickMany: true })).toEqual([item]);
    await telling.during({ location: 15, title: words }, async (tell) => tell(words));
    const tree = telling.treeItemOf({ label: words, description: words, tooltip: words });
    for (const it of [tree.label, tree.description]) expectHarmless(String(it), { isLine: true });
    const view = { description: "" };
    telling.describe(view, words);
    expectHarmless(view.description, { isLine: true });
    telling.lensOf({} as never, { title: words, command: "x" });
    await telling.showDiffAs(words, {} as never, {} as never, {});
    telling.markdownOf([{ words }, { code: words }], "python");
  }
  seen.splice(
    0,
    seen.length,
    ...seen.filter((it) => it.where !== "markdown" && it.where !== "code" && it.where !== "tab"),
  );
  expectAllHarmless();
});

it("says so if it cuts a name", async () => {
  await telling.tellUser("info", "x".repeat(5000));
  expect(seen[0]?.text).toMatch(/^x{900}… \(4,100 characters more\)$/);
});

it("asks every question in a notification, with no link of others", async () => {
  for (const question of questions) {
    await telling.notifyUntil(notificationText(question), notificationLinks(question), Promise.resolve());
  }
  expect(seen).toHaveLength(questions.length);
  expectAllHarmless();
});

it("names files whatever their names are", () => {
  for (const words of [...WORDS, "file:///p/100%.py", "file:///p/a%ZZ", "%", "file:///p/a%0Ab%E2%80%AE.py"]) {
    expectHarmless(nameOf(words), { isLine: true });
    expectHarmless(oneLine(words), { isLine: true });
    decoded(words);
  }
  expect(nameOf("file:///p/100%.py")).toBe("100%.py");
  expect(nameOf("file:///p/a%0Ab.py")).toBe("a ⏎ b.py");
  for (const { files } of reviews) for (const it of files) expectHarmless(titleOf(it), { isLine: true });
});

it("lists models, roles, approvals, extensions and sessions, whatever is in them", async () => {
  const lists = ["odin.model", "odin.role", "odin.permissions", "odin.extensions", "odin.trust"] as const;
  for (const choice of [0, 1, 2]) {
    const odin = new FakeOdin();
    for (const name of lists) odin.replies[name] = () => answers[name]?.[choice];
    const chat = { store: { shown: { state: { head: { sessionId: "s" } } } } } as unknown as Chat;
    const documents = {} as ReadOnlyDocuments;
    const settings = new SettingCommands({ odin, chat, documents, keys: {} as Keys });
    await settings.selectModel();
    await settings.selectRole();
    await settings.manageApprovals();
    await settings.showExtensions().catch((error: Error) => expect(error.message).toContain("showTextDocument"));
    await settings.decideTrust("ask");
    for (const session of answers["odin.session.list"] as { sessions: SessionSummary[] }[]) {
      await telling.chooseFrom(session.sessions.map(sessionItem), {});
    }
  }
  expectAllHarmless();
});

it("shows in the status bar and where an edit was asked for what others wrote as it looks", () => {
  for (const words of WORDS) {
    const standing = {
      ...{ server: { kind: "ready" }, running: undefined, activity: "idle", model: words, role: words, costUsd: 0 },
      ...{ questions: 0, reviews: 0, position: undefined, isTrusted: true },
    };
    const item: Record<string, unknown> = { show: () => {} };
    show(item as never, shownFor(standing as never), () => undefined);
    expectHarmless(String(item.text), { isLine: true });
    expect(String(item.text)).not.toContain("$(error)");
    expectHarmless(String(item.tooltip));
    const edit = new InlineEdit("t", "file:///a.py");
    edit.doing = words;
    telling.markdownOf(piecesOf(edit), "python");
  }
  for (const { text } of seen) expectHarmless(text);
});
