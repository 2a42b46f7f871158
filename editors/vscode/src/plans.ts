// Plans are Markdown documents that begin with a mark of the server's.

import type { TextDocument } from "vscode";

const MARK = "<!-- A plan for Odin.";

export function isPlan(document: Pick<TextDocument, "lineCount" | "lineAt" | "uri">): boolean {
  return document.uri.scheme === "file" && document.lineCount > 0 && document.lineAt(0).text.startsWith(MARK);
}
