import { expect, test } from "vitest";
import type {
  CodeAction,
  Diagnostic,
  DocumentSymbol,
  Hover,
  Location,
  Range,
  TextEdit,
  Uri,
  WorkspaceEdit,
} from "vscode";
import { type Entry, workspaceEdit } from "../src/intelligence/edits";
import * as from from "../src/intelligence/lsp";
import { diagnostic as byTypeScript } from "../src/intelligence/tsserver";

const uri = (name: string): Uri => ({ toString: () => `file:///w/${name}` }) as Uri;
const span = (line: number, first: number, last: number): Range =>
  ({ start: { line, character: first }, end: { line, character: last } }) as Range;
const place = (name: string, line: number): Location => ({ uri: uri(name), range: span(line, 0, 4) }) as Location;
const text = (newText: string): TextEdit => ({ range: span(0, 0, 4), newText }) as TextEdit;

const EMPTY = { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } };
const EDITED = { range: span(0, 0, 4), newText: "new" };

/** Of these files `old.ts` and `both.ts` exist; `old.ts` is open. */
const WORKSPACE = {
  exists: async (it: Uri) => ["file:///w/old.ts", "file:///w/both.ts"].includes(it.toString()),
  version: (it: string) => (it === "file:///w/old.ts" ? 7 : undefined),
};

function changesOf(...entries: Entry[]) {
  const edit = { _allEntries: () => entries } as unknown as WorkspaceEdit;
  return workspaceEdit(edit, WORKSPACE).then((it) => it.documentChanges);
}

test("a link and a location are the place of a name", () => {
  const link = { targetUri: uri("a.ts"), targetRange: span(1, 0, 40), targetSelectionRange: span(1, 9, 13) };
  expect(from.location(link)).toEqual({ uri: "file:///w/a.ts", range: span(1, 9, 13) });
  expect(from.location({ ...link, targetSelectionRange: undefined })).toMatchObject({ range: span(1, 0, 40) });
  expect(from.location(place("b.ts", 2))).toEqual({ uri: "file:///w/b.ts", range: span(2, 0, 4) });
});

test("symbols keep their tree, and have the numbers of LSP", () => {
  const method = {
    name: "area",
    detail: "",
    kind: 5,
    range: span(1, 0, 9),
    selectionRange: span(1, 2, 6),
    children: [],
  };
  const whole = { ...method, name: "Shape", kind: 4, detail: "abstract", children: [method] };
  expect(from.documentSymbol(whole as DocumentSymbol)).toMatchObject({
    name: "Shape",
    kind: 5,
    detail: "abstract",
    children: [{ name: "area", kind: 6, selectionRange: span(1, 2, 6) }],
  });
  const found = { name: "area()", kind: 11, containerName: "", location: place("a.ts", 3) };
  expect(from.symbolInformation(found)).toMatchObject({ name: "area", kind: 12, containerName: undefined });
});

test("hovers of several are one", () => {
  const hovers = [
    { contents: [{ value: "**area**" }, "plain", { language: "ts", value: "let x" }], range: span(0, 1, 2) },
    { contents: [{ value: " " }] },
  ];
  expect(from.hover(hovers as unknown as Hover[])).toEqual({
    contents: { kind: "markdown", value: "**area**\n\nplain\n\n```ts\nlet x\n```" },
    range: span(0, 1, 2),
  });
  expect(from.hover([])).toBeNull();
});

test("a problem keeps what it is related to, and its code without the link", () => {
  const problem = {
    range: span(3, 1, 2),
    severity: 0,
    code: { value: "no-undef", target: uri("docs") },
    source: "eslint",
    message: "x is not defined",
    tags: [1],
    relatedInformation: [{ location: place("b.ts", 2), message: "it was here" }],
  };
  expect(from.diagnostic(problem as unknown as Diagnostic)).toEqual({
    ...problem,
    severity: 1,
    code: "no-undef",
    relatedInformation: [{ location: { uri: "file:///w/b.ts", range: span(2, 0, 4) }, message: "it was here" }],
  });
});

test("what TypeScript's service says is what VS Code would show", () => {
  const found = { start: { line: 3, offset: 27 }, end: { line: 3, offset: 31 }, text: "Expected 2.", code: 2554 };
  expect(byTypeScript({ ...found, category: "error" }, "ts")).toEqual({
    range: span(2, 26, 30),
    severity: 1,
    code: 2554,
    source: "ts",
    message: "Expected 2.",
    tags: undefined,
  });
  const unused = { ...found, code: 6133, reportsUnnecessary: {} };
  expect(byTypeScript({ ...unused, category: "error" }, "ts")).toMatchObject({ severity: 2, tags: [1] });
  expect(byTypeScript({ ...unused, category: "suggestion" }, "js")).toMatchObject({ severity: 4, source: "js" });
  expect(byTypeScript({ ...found, category: "suggestion", reportsDeprecated: {} }, "ts")).toMatchObject({ tags: [2] });
});

test("an action tells the name of its command, and nothing of what is given to it", () => {
  const command = { title: "", command: "_typescript.didApplyRefactoring", arguments: [uri("a.ts")] };
  const action = { title: "Extract", kind: { value: "refactor.extract" }, command, isPreferred: false };
  expect(from.codeAction(action as unknown as CodeAction)).toMatchObject({
    title: "Extract",
    kind: "refactor.extract",
    command: { title: "", command: "_typescript.didApplyRefactoring" },
  });
});

test("edits of one file are one change, with the version that was asked about", async () => {
  const entries = ["old.ts", "old.ts", "far.ts"].map((it): Entry => ({ _type: 2, uri: uri(it), edit: text("new") }));
  expect(await changesOf(...entries)).toEqual([
    { textDocument: { uri: "file:///w/old.ts", version: 7 }, edits: [EDITED, EDITED] },
    { textDocument: { uri: "file:///w/far.ts", version: null }, edits: [EDITED] },
  ]);
});

test("files that are created, renamed and deleted are told in their order", async () => {
  const changes = await changesOf(
    { _type: 1, to: uri("new.ts"), options: { contents: new TextEncoder().encode("export {};") } },
    { _type: 1, to: uri("both.ts"), options: { ignoreIfExists: true } },
    { _type: 1, from: uri("old.ts"), to: uri("moved.ts") },
    { _type: 1, from: uri("gone.ts"), options: { recursive: true } },
    { _type: 2, uri: uri("moved.ts"), edit: text("new") },
  );
  expect(changes).toEqual([
    { kind: "create", uri: "file:///w/new.ts", options: {} },
    {
      textDocument: { uri: "file:///w/new.ts", version: null },
      edits: [{ range: EMPTY, newText: "export {};" }],
    },
    { kind: "rename", oldUri: "file:///w/old.ts", newUri: "file:///w/moved.ts", options: {} },
    { kind: "delete", uri: "file:///w/gone.ts", options: { recursive: true } },
    { textDocument: { uri: "file:///w/moved.ts", version: null }, edits: [EDITED] },
  ]);
});

test("a snippet is refused, for nobody else could insert it", async () => {
  await expect(changesOf({ _type: 6 })).rejects.toThrow("snippets");
});

test("where VS Code keeps its entries to itself, an edit of a file that does not exist creates it", async () => {
  const entries = () => [
    [uri("old.ts"), [text("new")]],
    [uri("new.ts"), [text("new")]],
  ];
  const edit = { entries } as unknown as WorkspaceEdit;
  expect((await workspaceEdit(edit, WORKSPACE)).documentChanges).toMatchObject([
    { textDocument: { uri: "file:///w/old.ts" } },
    { kind: "create", uri: "file:///w/new.ts" },
    { textDocument: { uri: "file:///w/new.ts" } },
  ]);
});
