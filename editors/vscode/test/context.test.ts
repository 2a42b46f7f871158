import { expect, test } from "vitest";
import type { Diagnostic, Range, TextDocument, TextEditor } from "vscode";
import { attachedTo, attachmentsIn } from "../src/context";

const TEXT = "def add(a, b):\n    return a - b\n\nprint(add(1, 2))\n";

function span(startLine: number, start: number, endLine: number, end: number): Range {
  const range = {
    start: { line: startLine, character: start },
    end: { line: endLine, character: end },
    isEmpty: startLine === endLine && start === end,
    intersection: (other: Range) => (other.start.line <= endLine && other.end.line >= startLine ? other : undefined),
  };
  return range as unknown as Range;
}

function editor(selection: Range, scheme = "file"): TextEditor {
  const uri = { scheme, path: "/project/app.py", toString: () => `${scheme}:///project/app.py` };
  const getText = (range?: Range): string =>
    range
      ? TEXT.split("\n")
          .slice(range.start.line, range.end.line + 1)
          .join("\n")
      : TEXT;
  return { document: { uri, version: 7, getText } as unknown as TextDocument, selection } as TextEditor;
}

function problem(line: number, more: Partial<Diagnostic> = {}): Diagnostic {
  return { range: span(line, 0, line, 4), message: "wrong sign", severity: 1, source: "lint", ...more } as Diagnostic;
}

test("a selection goes with its text, place and version, and the problems in it", () => {
  const { items, label } = attachedTo(editor(span(0, 0, 1, 16)), [problem(1, { code: "E1" }), problem(3)]);
  expect(label).toBe("lines 1–2 of app.py");
  expect(items).toEqual([
    {
      kind: "selection",
      uri: "file:///project/app.py",
      version: 7,
      range: { start: { line: 0, character: 0 }, end: { line: 1, character: 16 } },
      content: "def add(a, b):\n    return a - b",
    },
    { kind: "diagnostics", uri: "file:///project/app.py", content: "line 2: warning: lint: wrong sign [E1]" },
  ]);
});

test("a line of which nothing is selected is not named", () => {
  expect(attachedTo(editor(span(0, 0, 2, 0)), []).label).toBe("lines 1–2 of app.py");
  expect(attachedTo(editor(span(0, 0, 1, 0)), []).label).toBe("line 1 of app.py");
});

test("a code with a link is written as the code", () => {
  const linked = problem(0, { code: { value: "no-undef", target: {} as never }, severity: 0 });
  const [, problems] = attachedTo(editor(span(0, 0, 0, 3)), [linked]).items;
  expect(problems?.content).toBe("line 1: error: lint: wrong sign [no-undef]");
});

test("Odin's own hints are no problems", () => {
  expect(attachedTo(editor(span(0, 0, 0, 3)), [problem(0, { source: "Odin" })]).items).toHaveLength(1);
});

test("without a selection the file goes, which the server reads from the screen", () => {
  const { items, label } = attachedTo(editor(span(2, 0, 2, 0)), [problem(2)]);
  expect(label).toBe("app.py");
  expect(items).toEqual([{ kind: "file", uri: "file:///project/app.py", version: 7 }]);
});

test("of a document that is no file the text goes", () => {
  expect(attachedTo(editor(span(0, 0, 0, 0), "untitled"), []).items).toMatchObject([{ kind: "file", content: TEXT }]);
});

test("nothing goes from the output panel, or without an editor", () => {
  expect(attachedTo(editor(span(0, 0, 1, 0), "output"), []).items).toEqual([]);
  expect(attachedTo(undefined, [])).toEqual({ items: [], label: "" });
});

test("what went with a message that comes back goes with the next one", () => {
  const [a, b, folder] = ["file:///p/src/a.ts", "file:///p/src/b.ts", "file:///p/src"] as const;
  const range = { start: { line: 2, character: 0 }, end: { line: 9, character: 0 } };
  const found = attachmentsIn(
    [
      { kind: "file", uri: a, version: 3 },
      { kind: "folder", uri: folder },
      { kind: "selection", uri: a, range, content: "as it was" },
      { kind: "diagnostics", uri: a, content: "line 4: error: E1" },
      { kind: "selection", uri: b, range, name: "greet" },
      { kind: "diagnostics", uri: folder, content: "line 4: error: E2" },
      { kind: "text", content: "of a command" },
    ],
    (uri) => uri.slice("file:///p/".length),
  );
  expect(found).toEqual([
    { kind: "file", uri: a, label: "src/a.ts" },
    { kind: "folder", uri: folder, label: "src/" },
    { kind: "selection", uri: a, label: "lines 3–9 of a.ts", range },
    { kind: "symbol", uri: b, label: "greet", range },
    { kind: "problems", uri: folder, label: "problems in src" },
  ]);
});
