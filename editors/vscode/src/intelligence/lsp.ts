// What VS Code says about code, as LSP's JSON. Both count characters in UTF-16.

import type {
  CallHierarchyItem,
  CodeAction,
  Command,
  Diagnostic,
  DocumentSymbol,
  Hover,
  Location,
  LocationLink,
  MarkdownString,
  MarkedString,
  Position,
  Range,
  SymbolInformation,
  TextEdit,
} from "vscode";
import type * as lsp from "vscode-languageclient/node";

export function position({ line, character }: Position): lsp.Position {
  return { line, character };
}

export function range({ start, end }: Range): lsp.Range {
  return { start: position(start), end: position(end) };
}

/** A link leads to the name, not to all of what it names. */
export function location(found: Location | LocationLink): lsp.Location {
  return "targetUri" in found
    ? { uri: found.targetUri.toString(), range: range(found.targetSelectionRange ?? found.targetRange) }
    : { uri: found.uri.toString(), range: range(found.range) };
}

export function documentSymbol(symbol: DocumentSymbol): lsp.DocumentSymbol {
  return {
    name: symbol.name,
    detail: symbol.detail || undefined,
    kind: symbolKind(symbol.kind),
    tags: tags(symbol.tags),
    range: range(symbol.range),
    selectionRange: range(symbol.selectionRange),
    children: symbol.children.map(documentSymbol),
  };
}

/** VS Code's TypeScript writes functions as `name()`. */
export function symbolInformation(symbol: SymbolInformation): lsp.SymbolInformation {
  return {
    name: symbol.name.replace(/\(\)$/, ""),
    kind: symbolKind(symbol.kind),
    tags: tags(symbol.tags),
    containerName: symbol.containerName || undefined,
    location: location(symbol.location),
  };
}

/** Several have something to say: LSP has one hover for all. */
export function hover(hovers: readonly Hover[]): lsp.Hover | null {
  const value = hovers
    .flatMap((it) => it.contents)
    .map(markdown)
    .filter((it) => it.trim())
    .join("\n\n");
  const [first] = hovers;
  return value ? { contents: { kind: "markdown", value }, range: first?.range && range(first.range) } : null;
}

/** The item itself has to be given back to VS Code: `data` says which it is. */
export function callHierarchyItem(item: CallHierarchyItem, data: number): lsp.CallHierarchyItem {
  return {
    name: item.name,
    kind: symbolKind(item.kind),
    tags: tags(item.tags),
    detail: item.detail || undefined,
    uri: item.uri.toString(),
    range: range(item.range),
    selectionRange: range(item.selectionRange),
    data,
  };
}

export function textEdit(edit: TextEdit): lsp.TextEdit {
  return { range: range(edit.range), newText: edit.newText };
}

/** Without its edit. Of a command Odin is told the name, and not what only VS Code could give to it. */
export function codeAction(action: CodeAction): lsp.CodeAction {
  return {
    title: action.title,
    kind: action.kind?.value,
    diagnostics: action.diagnostics?.map(diagnostic),
    isPreferred: action.isPreferred,
    command: action.command && command(action.command),
    disabled: action.disabled,
  };
}

export function command({ title, command }: Command): lsp.Command {
  return { title, command };
}

export function diagnostic(problem: Diagnostic): lsp.Diagnostic {
  return {
    range: range(problem.range),
    severity: (problem.severity + 1) as lsp.DiagnosticSeverity,
    code: typeof problem.code === "object" ? problem.code.value : problem.code,
    source: problem.source,
    message: problem.message,
    tags: tags(problem.tags),
    relatedInformation: problem.relatedInformation?.map((it) => ({
      location: location(it.location),
      message: it.message,
    })),
  };
}

/** VS Code counts them from 0. */
function symbolKind(kind: number): lsp.SymbolKind {
  return (kind + 1) as lsp.SymbolKind;
}

function tags<T extends 1 | 2>(tags: readonly number[] | undefined): T[] | undefined {
  return tags?.length ? ([...tags] as T[]) : undefined;
}

function markdown(text: MarkdownString | MarkedString): string {
  if (typeof text === "string") {
    return text;
  }
  return "language" in text ? `\`\`\`${text.language}\n${text.value}\n\`\`\`` : text.value;
}
