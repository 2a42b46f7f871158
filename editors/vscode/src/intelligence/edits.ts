// Edits of the workspace as LSP's JSON, with the files that they create, rename and delete.

import type { TextEdit, Uri, WorkspaceEdit } from "vscode";
import type * as lsp from "vscode-languageclient/node";
import { textEdit } from "./lsp";

const FILE = 1;
const TEXT = 2;

/** An entry as VS Code keeps it: `entries()` gives text edits only. */
export type Entry =
  | { _type: typeof FILE; from?: Uri; to?: Uri; options?: FileOptions }
  | { _type: typeof TEXT; uri: Uri; edit: TextEdit }
  | { _type: 3 | 5 | 6 };

interface FileOptions {
  overwrite?: boolean;
  ignoreIfExists?: boolean;
  ignoreIfNotExists?: boolean;
  recursive?: boolean;
  contents?: Uint8Array;
}

interface Workspace {
  exists(uri: Uri): Promise<boolean>;
  /** Of the document when the edit was asked for, if it is open. */
  version(uri: string): number | undefined;
}

type Change = lsp.TextDocumentEdit | lsp.CreateFile | lsp.RenameFile | lsp.DeleteFile;

/** Rejects if there is something in it that only VS Code can do. */
export async function workspaceEdit(edit: WorkspaceEdit, workspace: Workspace): Promise<lsp.WorkspaceEdit> {
  const changes: Change[] = [];
  for (const entry of await entriesOf(edit, workspace)) {
    if (entry._type === TEXT) {
      add(changes, entry.uri, textEdit(entry.edit), workspace);
    } else if (entry._type === FILE) {
      await addFile(changes, entry, workspace);
    } else {
      throw new Error("the edit has snippets or notebook cells, which only VS Code can insert");
    }
  }
  return { documentChanges: changes };
}

/** Without the private method: an edit of a file that does not exist creates it. */
async function entriesOf(edit: WorkspaceEdit, workspace: Workspace): Promise<readonly Entry[]> {
  const all = (edit as { _allEntries?(): readonly Entry[] })._allEntries?.();
  if (all) {
    return all;
  }
  const entries: Entry[] = [];
  for (const [uri, edits] of edit.entries()) {
    if (!(await workspace.exists(uri))) {
      entries.push({ _type: FILE, to: uri });
    }
    entries.push(...edits.map((it): Entry => ({ _type: TEXT, uri, edit: it })));
  }
  return entries;
}

function add(changes: Change[], uri: Uri, edit: lsp.TextEdit, workspace: Workspace): void {
  const address = uri.toString();
  const last = changes.at(-1);
  if (last && "textDocument" in last && last.textDocument.uri === address) {
    last.edits.push(edit);
  } else {
    changes.push({ textDocument: { uri: address, version: workspace.version(address) ?? null }, edits: [edit] });
  }
}

async function addFile(changes: Change[], entry: Extract<Entry, { _type: 1 }>, workspace: Workspace): Promise<void> {
  const { from, to, options = {} } = entry;
  const { overwrite, ignoreIfExists, ignoreIfNotExists, recursive, contents } = options;
  if (from && to) {
    const uris = { oldUri: from.toString(), newUri: to.toString() };
    changes.push({ kind: "rename", ...uris, options: { overwrite, ignoreIfExists } });
  } else if (from) {
    changes.push({ kind: "delete", uri: from.toString(), options: { recursive, ignoreIfNotExists } });
  } else if (to && !(ignoreIfExists && (await workspace.exists(to)))) {
    changes.push({ kind: "create", uri: to.toString(), options: { overwrite, ignoreIfExists } });
    if (contents) {
      const start = { line: 0, character: 0 };
      add(changes, to, { range: { start, end: start }, newText: new TextDecoder().decode(contents) }, workspace);
    }
  }
}
