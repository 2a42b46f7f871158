import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { TextDocument } from "vscode";
import { Readiness } from "../src/intelligence/readiness";
import { Settling } from "../src/intelligence/settling";

const TABS = ["a.py", "b.py", "c.ts", "d.js", "notes.md"];
let settling: Settling;

beforeEach(() => {
  vi.useFakeTimers();
  settling = new Settling((uri) => TABS.includes(uri));
  for (const uri of ["a.py", "b.py", "hidden.py"]) {
    settling.opened(uri, "python");
  }
  settling.opened("c.ts", "typescript");
  settling.opened("d.js", "javascript");
});

afterEach(() => {
  vi.useRealTimers();
});

/** What comes of waiting, and after how long. */
async function settled(uri: string, patienceMs = 2000): Promise<[boolean, number]> {
  const begun = Date.now();
  let answer: [boolean, number] | undefined;
  void settling.settles(uri, patienceMs).then((it) => {
    answer = [it, Date.now() - begun];
  });
  while (!answer) {
    await vi.advanceTimersByTimeAsync(1);
  }
  return answer;
}

test("problems are current when somebody has told of the document since its change, and then is quiet", async () => {
  settling.told(["a.py"]);
  settling.changed("a.py");
  setTimeout(() => settling.told(["a.py"]), 100);
  setTimeout(() => settling.told(["a.py"]), 250);
  expect(await settled("a.py")).toEqual([true, 550]);
  expect(await settled("a.py")).toEqual([true, 0]);
});

test("what was told before the change says nothing about it", async () => {
  settling.told(["a.py"]);
  settling.changed("a.py");
  expect(await settled("a.py", 1000)).toEqual([false, 1000]);
});

test("a change of another document of the language is waited for as well", async () => {
  settling.told(["a.py", "b.py"]);
  settling.changed("b.py");
  setTimeout(() => settling.told(["b.py"]), 200);
  expect(await settled("a.py", 5000)).toEqual([true, 1700]);
});

test("it takes less if the server tells also of the document that has not changed", async () => {
  settling.told(["a.py", "b.py"]);
  settling.changed("b.py");
  setTimeout(() => settling.told(["b.py"]), 200);
  setTimeout(() => settling.told(["a.py"]), 600);
  expect(await settled("a.py")).toEqual([true, 900]);
});

test("TypeScript and JavaScript are one language, others do not matter", async () => {
  settling.told(["a.py", "c.ts", "d.js"]);
  settling.changed("d.js");
  expect(await settled("a.py")).toEqual([true, 300]);
  expect(settling.isSettled("c.ts")).toBe(false);
});

test("a document of which nobody has ever told is waited for only if it is asked about", async () => {
  settling.told(["a.py"]);
  expect(await settled("a.py")).toEqual([true, 300]);
  expect(await settled("b.py", 500)).toEqual([false, 500]);
});

test("a document that is in no tab, or was closed, is not waited for, and holds up nobody", async () => {
  settling.told(["a.py", "b.py", "hidden.py"]);
  settling.changed("hidden.py");
  expect(await settled("a.py")).toEqual([true, 1500]);
  settling.told(["hidden.py"]);
  settling.closed("b.py");
  expect(await settled("hidden.py")).toEqual([false, 0]);
  expect(await settled("b.py")).toEqual([false, 0]);
});

test("a language of which nobody tells is waited for once, until somebody does", async () => {
  expect(await settled("c.ts", 0)).toEqual([false, 0]);
  expect(await settled("c.ts", 1000)).toEqual([false, 1000]);
  expect(await settled("d.js", 1000)).toEqual([false, 0]);
  settling.told(["d.js", "unknown.rs"]);
  expect(await settled("d.js", 500)).toEqual([true, 300]);
});

const document = (languageId: string) => ({ languageId }) as TextDocument;

test("a server may be loading in the first ten seconds of its language", async () => {
  const readiness = new Readiness(async () => undefined);
  readiness.opened(document("python"));
  vi.advanceTimersByTime(9000);
  readiness.opened(document("python"));
  readiness.opened(document("go"));
  expect(await readiness.of(document("python"), "textDocument/references")).toBe(false);
  expect(await readiness.of(document("python"), "textDocument/documentSymbol")).toBe(true);
  vi.advanceTimersByTime(1000);
  expect(await readiness.of(document("python"), "textDocument/references")).toBe(true);
  expect(await readiness.of(document("go"), "textDocument/references")).toBe(false);
  expect(await readiness.of(document("rust"), "textDocument/references")).toBe(false);
});

test("TypeScript is ready when it has the project, however long that takes", async () => {
  const readiness = new Readiness(async ({ languageId }) => languageId === "typescript");
  readiness.opened(document("typescript"));
  expect(await readiness.of(document("typescript"), "textDocument/rename")).toBe(true);
  vi.advanceTimersByTime(60_000);
  expect(await readiness.of(document("javascript"), "textDocument/rename")).toBe(false);
});

test("as many symbols as TypeScript ever gives are not all", () => {
  expect(Readiness.wasCut("workspace/symbol", new Array(256).fill({}))).toBe(true);
  expect(Readiness.wasCut("workspace/symbol", new Array(255).fill({}))).toBe(false);
  expect(Readiness.wasCut("textDocument/references", new Array(256).fill({}))).toBe(false);
});
