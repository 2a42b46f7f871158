// What goes with a message: the selection and the problems in it, else the file.

import type { Diagnostic, Range, TextDocument, TextEditor } from "vscode";
import type { ContextItem } from "./protocol";
import { linesOf } from "./words";

const SEVERITIES = ["error", "warning", "info", "hint"];
const OWN_SOURCE = "Odin";

export interface Attached {
  items: ContextItem[];
  /** What it is, for the user: `lines 3–9 of app.py`. */
  label: string;
}

export function attachedTo(
  editor: Pick<TextEditor, "document" | "selection"> | undefined,
  diagnostics: readonly Diagnostic[],
): Attached {
  if (!editor || !isText(editor.document)) {
    return { items: [], label: "" };
  }
  const { document, selection } = editor;
  const name = document.uri.path.split("/").at(-1) ?? "";
  if (selection.isEmpty) {
    return { items: [fileItem(document)], label: name };
  }
  const problems = problemsItem(
    document,
    diagnostics.filter((it) => overlaps(it.range, selection)),
  );
  const label = linesOf(selection.start.line + 1, lastLineOf(selection) + 1, name);
  return { items: [selectionItem(document, selection), ...problems], label };
}

/** A line of which nothing is selected does not count. */
export function lastLineOf({ start, end }: NonNullable<ContextItem["range"]>): number {
  return end.character === 0 && end.line > start.line ? end.line - 1 : end.line;
}

export function fileItem(document: TextDocument): ContextItem {
  const item: ContextItem = { kind: "file", uri: document.uri.toString(), version: document.version };
  // The server knows documents that are files; of others it has to be told.
  return document.uri.scheme === "file" ? item : { ...item, content: document.getText() };
}

/** With its text, so that it is what was selected, whatever is typed until it is read. */
export function selectionItem(document: TextDocument, range: Range): ContextItem {
  return {
    kind: "selection",
    uri: document.uri.toString(),
    version: document.version,
    range: plain(range),
    content: document.getText(range),
  };
}

export function problemsItem(document: Pick<TextDocument, "uri">, diagnostics: readonly Diagnostic[]): ContextItem[] {
  const lines = diagnostics.filter((it) => it.source !== OWN_SOURCE).map(described);
  return lines.length > 0 ? [{ kind: "diagnostics", uri: document.uri.toString(), content: lines.join("\n") }] : [];
}

function described(problem: Diagnostic): string {
  const code = typeof problem.code === "object" ? problem.code.value : problem.code;
  const source = problem.source ? `${problem.source}: ` : "";
  const severity = SEVERITIES[problem.severity];
  return `line ${problem.range.start.line + 1}: ${severity}: ${source}${problem.message}${code ? ` [${code}]` : ""}`;
}

function overlaps(range: Range, selection: Range): boolean {
  return range.intersection(selection) !== undefined;
}

function plain({ start, end }: Range): ContextItem["range"] {
  return {
    start: { line: start.line, character: start.character },
    end: { line: end.line, character: end.character },
  };
}

/** The box of a comment is an editor, too: who writes there still looks at the text that it is about. */
export function isCommentBox(document: TextDocument | undefined): boolean {
  return document?.uri.scheme === "comment";
}

/** Not the output panel, nor one side of a comparison. */
function isText(document: TextDocument): boolean {
  return document.uri.scheme === "file" || document.uri.scheme === "untitled";
}
