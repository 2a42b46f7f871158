// Which words lead to files, and which names fit what was typed.

import { describe, expect, it } from "vitest";
import { leadsToWeb, mayNameFile, placeOf } from "../src/chat/links";
import { best } from "../src/chat/matching";
import { notificationLinks, notificationText, notifiedOptions } from "../src/chat/notifying";
import type { Question } from "../src/protocol";

it.each([
  ["src/a.ts", { path: "src/a.ts" }],
  ["src/a.ts:12", { path: "src/a.ts", line: 11 }],
  ["a.ts:12:3", { path: "a.ts", line: 11, column: 2 }],
  ["a.ts:3-9", { path: "a.ts", line: 2, lastLine: 8 }],
  ["a.ts#L3-L9", { path: "a.ts", line: 2, lastLine: 8 }],
  ["my%20file.md#L1", { path: "my file.md", line: 0 }],
  ["C:\\src\\a.ts:3", { path: "C:\\src\\a.ts", line: 2 }],
  ["command:workbench.action.quit", undefined],
  ["file:///etc/passwd", undefined],
  ["vscode://x/y", undefined],
  ["//server/share", undefined],
  ["\\\\server\\share", undefined],
  ["#anchor", undefined],
  ["%E0%A4%A", undefined],
])("%s leads to %o", (target, place) => {
  expect(placeOf(target)).toEqual(place);
});

it("takes names of files for such, and nothing else", () => {
  const names = ["src/a.ts", "README.md:3", "f(x)", "a = 1", "npm run x", "https://x.y", "..", "foo.bar()"];
  expect(names.filter(mayNameFile)).toEqual(["src/a.ts", "README.md:3", "foo.bar()"]);
});

it("puts the names first that fit best", () => {
  const names = ["docs/apple.md", "src/app.ts", "test/application.test.ts", "src/map/apply.ts", "zebra.ts"];
  expect(best(names, "app", (it) => it, 3)).toEqual(["src/app.ts", "docs/apple.md", "src/map/apply.ts"]);
  expect(best(names, "src/app", (it) => it, 1)).toEqual(["src/app.ts"]);
  expect(best(names, "tapp", (it) => it, 9)).toContain("test/application.test.ts");
  expect(best(["src/ChatView.ts", "src/covert.ts"], "cv", (it) => it, 1)).toEqual(["src/ChatView.ts"]);
});

describe("a notification", () => {
  const option = (id: string) => ({ id, label: id });
  const question: Question = {
    questionId: "q",
    kind: "permission",
    title: "Run it?",
    command: "ls",
    options: ["allow_once", "allow_session", "allow_always", "deny"].map(option),
  };
  const ids = (it: Question) => notifiedOptions(it).map(({ id }) => id);

  it("has the plain yes and no of many choices", () => {
    expect(ids(question)).toEqual(["allow_once", "deny"]);
    expect(ids({ ...question, options: ["save", "leave"].map(option) })).toEqual(["save", "leave"]);
    expect(notificationText(question)).toBe("Odin: Run it? ls");
  });

  it("is answered by links, and makes none of what somebody else wrote", () => {
    const [allow, deny, show] = notificationLinks(question).split(" · ");
    expect(allow).toBe(`[allow_once](command:odin.chat.answer?${encodeURIComponent('["q","allow_once"]')})`);
    expect(deny).toContain("[deny](command:odin.chat.answer");
    expect(show).toBe("[Show in Chat](command:odin.chat.focus)");
    const link = "[x](command:workbench.action.quit)";
    expect(notificationText({ ...question, title: link, command: link })).toBe(
      "Odin: [x] (command:workbench.action.quit)",
    );
    expect(notificationLinks({ ...question, command: link })).toBe(show);
  });

  it.each(["ls\nrm x", "x".repeat(500), "ls \u202e"])("lets nobody allow what it cannot show: %j", (command) => {
    expect(ids({ ...question, command })).toEqual([]);
    expect(notificationText({ ...question, command })).toBe("Odin: Run it?");
  });
});

describe("the web", () => {
  it.each(["https://example.org", "http://127.0.0.1:8080/a?b=c#d", "HTTPS://Example.org/Ä%20b", "hTtP://x"])(
    "is where %s leads",
    (target) => {
      expect(leadsToWeb(target)).toBe(true);
    },
  );

  it.each([
    "command:workbench.action.terminal.new",
    "COMMAND:workbench.action.terminal.new",
    "file:///etc/passwd",
    "vscode://odin-lsp.odin/run",
    "vscode-insiders://x/y",
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)//https://example.org",
    "java\tscript:alert(1)",
    "data:text/html,<script>https://example.org</script>",
    "mailto:a@example.org",
    "ms-msdt:/id",
    "ftp://example.org",
    "//example.org",
    "https:example.org",
    "https:/example.org",
    "https://",
    " https://example.org",
    "\thttps://example.org",
    "\nhttps://example.org",
    "\u0000https://example.org",
    "\u0001javascript:alert(1)",
    "command:x\nhttps://example.org",
    "https://example.org\ncommand:x",
    "https://example.org\u0000.evil",
    "https://example.org /c calc",
    "\u200bhttps://example.org",
    "xhttps://example.org",
    "",
  ])("is not where %j leads", (target) => {
    expect(leadsToWeb(target)).toBe(false);
  });
});
