// Requests of LSP, put to VS Code's own commands: these ask every extension that serves the document, and merge.

import {
  type CallHierarchyIncomingCall,
  type CallHierarchyItem,
  type CallHierarchyOutgoingCall,
  type CodeAction,
  type Command,
  commands,
  type DocumentSymbol,
  type Hover,
  type Location,
  type LocationLink,
  Position,
  Range,
  type SymbolInformation,
  type TextDocument,
  type TextEdit,
  type Uri,
  type WorkspaceEdit,
  workspace,
} from "vscode";
import type * as lsp from "vscode-languageclient/node";
import { workspaceEdit } from "./edits";
import * as from from "./lsp";

/** Code actions beyond them come without their edit. */
const MOST_RESOLVED = 30;
const MOST_KEPT = 1000;

/** `undefined`: nobody offers it. Rejects with what a server says against it. */
type Way = (document: TextDocument, params: never) => Promise<unknown>;

export class Questions {
  readonly #ways: Partial<Record<string, Way>> = {
    "textDocument/definition": (document, params: lsp.DefinitionParams) =>
      places("vscode.executeDefinitionProvider", document, params),
    "textDocument/typeDefinition": (document, params: lsp.TypeDefinitionParams) =>
      places("vscode.executeTypeDefinitionProvider", document, params),
    "textDocument/implementation": (document, params: lsp.ImplementationParams) =>
      places("vscode.executeImplementationProvider", document, params),
    "textDocument/references": references,
    "textDocument/hover": hover,
    "textDocument/documentSymbol": documentSymbols,
    "workspace/symbol": workspaceSymbols,
    "textDocument/prepareCallHierarchy": (document, params: lsp.CallHierarchyPrepareParams) =>
      this.#prepareCalls(document, params),
    "callHierarchy/incomingCalls": (_, params: lsp.CallHierarchyIncomingCallsParams) => this.#incoming(params),
    "callHierarchy/outgoingCalls": (_, params: lsp.CallHierarchyOutgoingCallsParams) => this.#outgoing(params),
    "textDocument/prepareRename": prepareRename,
    "textDocument/rename": rename,
    "textDocument/codeAction": codeActions,
    "textDocument/formatting": formatting,
  };
  /** Items belong to a session of VS Code's, which only they themselves name. */
  readonly #items = new Map<number, CallHierarchyItem>();
  #lastItem = 0;

  offers(method: string): boolean {
    return method in this.#ways;
  }

  async ask(method: string, document: TextDocument, params: object): Promise<unknown> {
    return this.#ways[method]?.(document, params as never);
  }

  async #prepareCalls(document: TextDocument, { position }: lsp.CallHierarchyPrepareParams): Promise<unknown> {
    const items = await run<CallHierarchyItem[]>("vscode.prepareCallHierarchy", document.uri, at(position));
    return items?.map((it) => this.#keep(it));
  }

  async #incoming({ item }: lsp.CallHierarchyIncomingCallsParams): Promise<unknown> {
    const calls = await run<CallHierarchyIncomingCall[]>("vscode.provideIncomingCalls", this.#kept(item));
    return calls?.map((it) => ({ from: this.#keep(it.from), fromRanges: it.fromRanges.map(from.range) }));
  }

  async #outgoing({ item }: lsp.CallHierarchyOutgoingCallsParams): Promise<unknown> {
    const calls = await run<CallHierarchyOutgoingCall[]>("vscode.provideOutgoingCalls", this.#kept(item));
    return calls?.map((it) => ({ to: this.#keep(it.to), fromRanges: it.fromRanges.map(from.range) }));
  }

  #keep(item: CallHierarchyItem): lsp.CallHierarchyItem {
    this.#lastItem += 1;
    this.#items.set(this.#lastItem, item);
    this.#items.delete(this.#lastItem - MOST_KEPT);
    return from.callHierarchyItem(item, this.#lastItem);
  }

  #kept({ data, name }: lsp.CallHierarchyItem): CallHierarchyItem {
    const item = this.#items.get(data as number);
    if (!item) {
      throw new Error(`the call hierarchy of ${name} is no longer known; prepare it again`);
    }
    return item;
  }
}

/** Whether any server knows the language: empty answers say nothing if nobody does. */
export async function hasOutline(document: TextDocument): Promise<boolean> {
  return (await documentSymbols(document)) !== undefined;
}

async function places(
  command: string,
  document: TextDocument,
  { position }: lsp.TextDocumentPositionParams,
): Promise<lsp.Location[] | undefined> {
  const found = await run<(Location | LocationLink)[]>(command, document.uri, at(position));
  return found?.map(from.location);
}

/** VS Code asks for the declaration in any case. */
async function references(document: TextDocument, params: lsp.ReferenceParams): Promise<unknown> {
  const found = await places("vscode.executeReferenceProvider", document, params);
  if (params.context.includeDeclaration) {
    return found;
  }
  const declared = (await places("vscode.executeDefinitionProvider", document, params)) ?? [];
  const isDeclared = new Set(declared.map((it) => JSON.stringify(it)));
  return found?.filter((it) => !isDeclared.has(JSON.stringify(it)));
}

async function hover(document: TextDocument, { position }: lsp.HoverParams): Promise<unknown> {
  return from.hover((await run<Hover[]>("vscode.executeHoverProvider", document.uri, at(position))) ?? []);
}

async function documentSymbols(document: TextDocument): Promise<lsp.DocumentSymbol[] | undefined> {
  const symbols = await run<DocumentSymbol[]>("vscode.executeDocumentSymbolProvider", document.uri);
  return symbols?.map(from.documentSymbol);
}

async function workspaceSymbols(_: TextDocument, { query }: lsp.WorkspaceSymbolParams): Promise<unknown> {
  const symbols = await run<SymbolInformation[]>("vscode.executeWorkspaceSymbolProvider", query);
  return symbols?.map(from.symbolInformation);
}

async function prepareRename(document: TextDocument, { position }: lsp.PrepareRenameParams): Promise<unknown> {
  type Place = { range: Range; placeholder: string };
  const place = await run<Place>("vscode.prepareRename", document.uri, at(position));
  return place && { range: from.range(place.range), placeholder: place.placeholder };
}

async function rename(document: TextDocument, { position, newName }: lsp.RenameParams): Promise<unknown> {
  const version = versions();
  const command = "vscode.executeDocumentRenameProvider";
  const edit = await run<WorkspaceEdit>(command, document.uri, at(position), newName);
  return edit && workspaceEdit(edit, { exists, version });
}

async function codeActions(document: TextDocument, params: lsp.CodeActionParams): Promise<unknown> {
  const version = versions();
  const { start, end } = params.range;
  const range = new Range(at(start), at(end));
  const kinds = params.context.only ?? [undefined];
  const found = await Promise.all(
    kinds.map((kind) =>
      run<(CodeAction | Command)[]>("vscode.executeCodeActionProvider", document.uri, range, kind, MOST_RESOLVED),
    ),
  );
  const others = found.flatMap((it) => it ?? []).filter((it) => !isOwn(it));
  return Promise.all(
    others.map(async (it) => {
      if (isCommand(it)) {
        return from.command(it);
      }
      const action = from.codeAction(it);
      try {
        return { ...action, edit: it.edit && (await workspaceEdit(it.edit, { exists, version })) };
      } catch (error) {
        return { ...action, disabled: { reason: (error as Error).message } };
      }
    }),
  );
}

async function formatting(document: TextDocument, { options }: lsp.DocumentFormattingParams): Promise<unknown> {
  const edits = await run<TextEdit[]>("vscode.executeFormatDocumentProvider", document.uri, options);
  return edits?.map(from.textEdit);
}

/** Odin's own, which would lead back to it. */
function isOwn(action: CodeAction | Command): boolean {
  const command = isCommand(action) ? action.command : action.command?.command;
  return command?.startsWith("odin.") ?? false;
}

function isCommand(action: CodeAction | Command): action is Command {
  return typeof action.command === "string";
}

/** Of all documents as they are now, so that an edit cannot be taken for one of a later text. */
function versions(): (uri: string) => number | undefined {
  const now = new Map(workspace.textDocuments.map((it) => [it.uri.toString(), it.version]));
  return (uri) => now.get(uri);
}

async function exists(uri: Uri): Promise<boolean> {
  return workspace.fs.stat(uri).then(
    () => true,
    () => false,
  );
}

function at({ line, character }: lsp.Position): Position {
  return new Position(line, character);
}

async function run<T>(command: string, ...parameters: unknown[]): Promise<T | undefined> {
  return commands.executeCommand<T | undefined>(command, ...parameters);
}
