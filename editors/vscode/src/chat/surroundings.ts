// What the chat needs of the editor around it: what is looked at, what can be mentioned, and where links lead.

import {
  commands,
  type Disposable,
  languages,
  Range,
  type SymbolInformation,
  type TextDocument,
  Uri,
  window,
  workspace,
} from "vscode";
import { attachedTo, fileItem, problemsItem, selectionItem } from "../context";
import type { ContextItem } from "../protocol";
import { placeOf } from "./links";
import { best } from "./matching";
import type { Attachment, Completion } from "./messages";

const MAX_FILES = 20_000;
const MAX_SHOWN = 12;
const MAX_SYMBOLS = 5;
const MAX_PROBLEM_FILES = 20;

/** What goes with the next message unless the user takes it away. */
export function lookedAt(): Attachment | null {
  const editor = window.activeTextEditor;
  const { items, label } = attachedTo(editor, []);
  const [item] = items;
  if (!editor || !item) return null;
  const uri = editor.document.uri.toString();
  if (item.kind === "selection" && item.range) return { kind: "selection", uri, label, range: item.range };
  return { kind: "file", uri, label };
}

/** The attachment for the server, as the document is now. */
export function itemsOf(attachment: Attachment): ContextItem[] {
  const { kind } = attachment;
  if (kind === "problems") return problems(attachment.uri);
  const document = openDocument(attachment.uri);
  if (kind === "file") return [document ? fileItem(document) : { kind: "file", uri: attachment.uri }];
  const { start, end } = attachment.range;
  if (!document) return [{ kind: "selection", uri: attachment.uri, range: attachment.range }];
  const range = new Range(start.line, start.character, end.line, end.character);
  const inside = languages.getDiagnostics(document.uri).filter((it) => it.range.intersection(range));
  return [selectionItem(document, range), ...problemsItem(document, inside)];
}

function problems(uri: string | undefined): ContextItem[] {
  const all = languages.getDiagnostics().filter(([it]) => uri === undefined || it.toString() === uri);
  return all
    .filter(([, found]) => found.length > 0)
    .slice(0, MAX_PROBLEM_FILES)
    .flatMap(([it, found]) => problemsItem({ uri: it }, found));
}

function openDocument(uri: string): TextDocument | undefined {
  return workspace.textDocuments.find((it) => it.uri.toString() === uri);
}

/** The names of the workspace's files are looked up once, and again when some come or go. */
export class Mentions implements Disposable {
  #files: Promise<Uri[]> | undefined;
  readonly #subscriptions = [
    workspace.onDidCreateFiles(() => this.#forget()),
    workspace.onDidDeleteFiles(() => this.#forget()),
    workspace.onDidRenameFiles(() => this.#forget()),
  ];

  /** What fits the word; a new mention begins with a new look at the files. */
  async complete(word: string): Promise<Completion[]> {
    if (word === "") this.#forget();
    const special = this.#special().filter((it) => it.word.startsWith(word.toLowerCase()));
    const [files, symbols] = await Promise.all([this.#matching(word), word.length > 1 ? this.#symbols(word) : []]);
    return [...special, ...files, ...symbols].slice(0, MAX_SHOWN);
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
  }

  #special(): Completion[] {
    const looked = lookedAt();
    const found: Completion[] = [];
    if (looked?.kind === "selection") {
      found.push({ word: "selection", detail: looked.label, icon: "selection", attachment: looked });
    }
    const attachment: Attachment = { kind: "problems", label: "problems" };
    found.push({ word: "problems", detail: "errors and warnings of the workspace", icon: "problems", attachment });
    return found;
  }

  async #matching(word: string): Promise<Completion[]> {
    this.#files ??= Promise.resolve(workspace.findFiles("**/*", undefined, MAX_FILES));
    const named = (await this.#files).map((uri) => ({ uri, name: workspace.asRelativePath(uri) }));
    return best(named, word, (it) => it.name, MAX_SHOWN).map(({ uri, name }) => ({
      word: name.replaceAll(" ", "\u00a0"),
      detail: "",
      icon: "file",
      attachment: { kind: "file", uri: uri.toString(), label: name },
    }));
  }

  async #symbols(word: string): Promise<Completion[]> {
    const found = await commands.executeCommand<SymbolInformation[] | undefined>(
      "vscode.executeWorkspaceSymbolProvider",
      word,
    );
    const here = (found ?? []).filter((it) => workspace.getWorkspaceFolder(it.location.uri));
    return best(here, word, (it) => it.name, MAX_SYMBOLS).map(({ name, location: { uri, range } }) => ({
      word: name.replaceAll(/\s+/g, ""),
      detail: workspace.asRelativePath(uri),
      icon: "symbol",
      attachment: {
        kind: "selection",
        uri: uri.toString(),
        label: name,
        range: {
          start: { line: range.start.line, character: range.start.character },
          end: { line: range.end.line, character: range.end.character },
        },
      },
    }));
  }

  #forget(): void {
    this.#files = undefined;
  }
}

/** Those of the names that are files of the workspace. */
export async function existing(names: readonly string[]): Promise<string[]> {
  const found = await Promise.all(names.map(async (it) => (await filesNamed(it)).length > 0));
  return names.filter((_, index) => found[index]);
}

/** Open a file of the workspace at the place that the name tells; nothing else is opened. */
export async function openPlace(name: string): Promise<void> {
  const place = placeOf(name);
  const found = await filesNamed(name);
  const uri = found.length > 1 ? await choose(found) : found[0];
  if (!uri || !place) return;
  const { line, lastLine = line, column = 0 } = place;
  const selection =
    line === undefined ? undefined : new Range(line, column, lastLine ?? line, lastLine === line ? column : 0);
  await window.showTextDocument(uri, selection ? { selection } : {});
}

async function choose(uris: readonly Uri[]): Promise<Uri | undefined> {
  const items = uris.map((uri) => ({ label: workspace.asRelativePath(uri, true), uri }));
  return (await window.showQuickPick(items, { placeHolder: "Which of them?" }))?.uri;
}

async function filesNamed(name: string): Promise<Uri[]> {
  const path = placeOf(name)?.path.replaceAll("\\", "/");
  if (!path) return [];
  const folders = workspace.workspaceFolders ?? [];
  const isAbsolute = path.startsWith("/") || /^[a-z]:/i.test(path);
  const candidates = isAbsolute
    ? [Uri.file(path)]
    : folders.flatMap((folder) => {
        const isNamed = path.startsWith(`${folder.name}/`);
        const inside = isNamed ? [Uri.joinPath(folder.uri, path.slice(folder.name.length + 1))] : [];
        return [Uri.joinPath(folder.uri, path), ...inside];
      });
  const inWorkspace = candidates.filter((it) => workspace.getWorkspaceFolder(it));
  const found = await Promise.all(inWorkspace.map(isFile));
  return inWorkspace.filter((_, index) => found[index]);
}

async function isFile(uri: Uri): Promise<boolean> {
  try {
    return ((await workspace.fs.stat(uri)).type & 1) === 1;
  } catch {
    return false;
  }
}
