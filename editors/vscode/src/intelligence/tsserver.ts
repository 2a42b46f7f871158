// What TypeScript's service says about a file, as LSP's JSON.

import type * as lsp from "vscode-languageclient/node";

/** Lines and offsets are counted from 1. */
export interface Found {
  start: { line: number; offset: number };
  end: { line: number; offset: number };
  text: string;
  code: number;
  category: "error" | "warning" | "suggestion";
  reportsUnnecessary?: object;
  reportsDeprecated?: object;
}

const SEVERITIES: Record<Found["category"], lsp.DiagnosticSeverity> = { error: 1, warning: 2, suggestion: 4 };
/** Of unused and unreachable code: VS Code shows them as warnings, whatever the compiler makes of them. */
const STYLE = new Set([6133, 6138, 6192, 7027, 7028, 7029, 7030]);

export function diagnostic(found: Found, source: string | undefined): lsp.Diagnostic {
  const isStyle = found.category === "error" && STYLE.has(found.code);
  const tags: lsp.DiagnosticTag[] = [];
  if (found.reportsUnnecessary) {
    tags.push(1);
  }
  if (found.reportsDeprecated) {
    tags.push(2);
  }
  return {
    range: { start: position(found.start), end: position(found.end) },
    severity: isStyle ? 2 : SEVERITIES[found.category],
    code: found.code,
    source,
    message: found.text,
    tags: tags.length > 0 ? tags : undefined,
  };
}

function position({ line, offset }: Found["start"]): lsp.Position {
  return { line: line - 1, character: offset - 1 };
}
