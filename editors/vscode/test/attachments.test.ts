// @vitest-environment jsdom
// What goes with a message: shown before it is sent, each part to be taken away, and shown with it afterwards.

import { beforeEach, describe, expect, it } from "vitest";
import { foldersOf, mentioned } from "../src/chat/matching";
import type { Attachment } from "../src/chat/messages";
import type { SentContext } from "../src/protocol";
import { mentionOf } from "../webview/attachments";
import { labelOf } from "../webview/sent";
import { find, named, Page, press, turnWith, write } from "./chat-page";

let page: Page;

beforeEach(() => {
  page = new Page();
});

const message = () => find<HTMLTextAreaElement>(".box textarea");
const chips = () => [...document.querySelectorAll(".chip")].map((it) => it.textContent);
const range = { start: { line: 2, character: 0 }, end: { line: 9, character: 0 } };
const file: Attachment = { kind: "file", uri: "file:///w/a.py", label: "a.py" };
const folder: Attachment = { kind: "folder", uri: "file:///w/src", label: "src/" };
const symbol: Attachment = { kind: "symbol", uri: "file:///w/a.py", label: "add", range };
const problems: Attachment = { kind: "problems", label: "problems" };

describe("what goes with the next message", () => {
  it("is looked at, attached or mentioned, and each can be taken away", () => {
    page.take({ type: "looked", looked: file });
    named("Add context").click();
    expect(page.of("attach")).toHaveLength(1);
    page.take({ type: "attached", attachments: [folder, problems] });
    write(message(), "see @a");
    const completions = [{ word: "add", detail: "a.py", icon: "symbol", attachment: symbol } as const];
    page.take({ type: "completions", request: page.of("complete")[0]?.request ?? 0, completions });
    press(message(), "Enter");
    expect(chips()).toEqual(["a.py", "src/", "problems", "add"]);
    named("Do not send problems").click();
    named("Do not send add").click();
    expect(message().value).toBe("see add ");
    press(message(), "Enter");
    expect(page.of("send")[0]?.attachments).toEqual([file, folder]);
    expect(chips()).toEqual(["a.py"]);
  });

  it("is named by the file first, which is cut last", () => {
    const deep: Attachment = { kind: "file", uri: "file:///w/src/deep/b.py", label: "src/deep/b.py" };
    const selection: Attachment = { kind: "selection", uri: "file:///w/a.py", label: "lines 3–9 of a.py", range };
    page.take({ type: "attached", attachments: [selection, deep] });
    expect(chips()).toEqual(["a.py lines 3–9", "src/deep/b.py"]);
    expect([...document.querySelectorAll(".chip-name")].map((it) => it.textContent)).toEqual(["a.py", "b.py"]);
    expect(find(".chip").title).toBe("Sent with your message: lines 3–9 of a.py");
  });

  it("is sent once, and is still there when the page comes back", () => {
    page.take({ type: "attached", attachments: [file, folder] });
    page.take({ type: "looked", looked: file });
    page = new Page(page.saved);
    expect(chips()).toEqual(["a.py", "src/"]);
  });

  it("has the images that were chosen in VS Code", () => {
    const picture = { mediaType: "image/png", data: "aGk=", name: "shot.png" };
    page.take({ type: "pictures", pictures: [picture] });
    write(message(), "What is this?");
    press(message(), "Enter");
    expect(page.of("send")[0]?.images).toEqual([picture]);
  });
});

describe("what has gone with a message", () => {
  const uri = "file:///w/a%20b.py";
  const selection: SentContext = { kind: "selection", uri, firstLine: 3, lastLine: 9 };

  it("is folded below it, and leads to its place", () => {
    page.show([turnWith([], { context: [selection, { kind: "folder", uri: "file:///w/src" }] })]);
    const fold = find<HTMLDetailsElement>(".said details");
    expect(fold.open).toBe(false);
    expect(find(".said summary").textContent).toBe("lines 3–9 of a b.py and 1 more");
    named("lines 3–9 of a b.py").click();
    expect(page.of("openFile")).toEqual([{ type: "openFile", path: "/w/a%20b.py#L3-L9" }]);
  });

  it("has a name whatever it was", () => {
    const all: SentContext[] = [
      { kind: "file", uri },
      { kind: "selection", uri, firstLine: 4, lastLine: 4 },
      { kind: "selection", uri, firstLine: 3, lastLine: 9, name: "add" },
      { kind: "folder", uri: "file:///w/src/" },
      { kind: "diagnostics", uri },
      { kind: "command", name: "make" },
      { kind: "text" },
    ];
    expect(all.map(labelOf)).toEqual([
      "a b.py",
      "line 4 of a b.py",
      "add in a b.py",
      "src/",
      "problems in a b.py",
      "output of make",
      "text",
    ]);
  });
});

it("knows a mention from the beginning of another one", () => {
  const mentions = (text: string, word: string) => mentionOf(word).test(text);
  expect(mentions("see @src/", "src/")).toBe(true);
  expect(mentions("see @src/a.ts", "src/")).toBe(false);
  expect(mentions("(see @src/a.ts).", "src/a.ts")).toBe(true);
  expect(mentions("see @src/a.tsx", "src/a.ts")).toBe(false);
  expect(mentions("see @a(b)+.ts, and so on", "a(b)+.ts")).toBe(true);
  expect(mentions("see @größer", "größe")).toBe(false);
  expect(mentions('see @"my notes.txt", please', mentioned("my notes.txt"))).toBe(true);
});

it("finds the folders of files, each once", () => {
  const above = (uri: string) => uri.slice(0, uri.lastIndexOf("/"));
  const files = ["a.py", "src/b.py", "src/deep/c.py", "src/deep/d.py"].map((name) => ({ uri: `/w/${name}`, name }));
  expect(foldersOf(files, above)).toEqual([
    { uri: "/w/src", name: "src/" },
    { uri: "/w/src/deep", name: "src/deep/" },
  ]);
});
