// What goes with a message: the selection and the problems in it, else the file.

import type { Diagnostic, Range, TextDocument, TextEditor } from "vscode";
import type { Attachment } from "./chat/messages";
import { t } from "./l10n";
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

/** What went with a message that comes back, to go with the next one. Problems inside of a selection come with it. */
export function attachmentsIn(context: readonly ContextItem[], nameOf: (uri: string) => string): Attachment[] {
  const selected = new Set(context.map((it) => (it.kind === "selection" ? it.uri : undefined)));
  const items = context.filter((it) => it.kind !== "diagnostics" || !selected.has(it.uri));
  return items.map((it) => attachmentOf(it, nameOf)).filter((it) => it !== undefined);
}

function attachmentOf(
  { kind, uri, range, name }: ContextItem,
  nameOf: (uri: string) => string,
): Attachment | undefined {
  if (uri === undefined) return undefined;
  const label = nameOf(uri);
  if (kind === "file") return { kind, uri, label };
  if (kind === "folder") return { kind, uri, label: `${label}/` };
  if (kind === "diagnostics") return { kind: "problems", uri, label: t("problems in {0}", label) };
  if (kind !== "selection" || range === undefined) return undefined;
  if (name !== undefined) return { kind: "symbol", uri, label: name, range };
  const file = label.slice(label.lastIndexOf("/") + 1);
  return { kind, uri, label: linesOf(range.start.line + 1, lastLineOf(range) + 1, file), range };
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
