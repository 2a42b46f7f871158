// What the chat needs of the editor around it: what is looked at, what goes along, and where links lead.

import { FileType, languages, Range, type TextDocument, Uri, window, workspace } from "vscode";
import { attachedTo, fileItem, problemsItem, selectionItem } from "../context";
import { t } from "../l10n";
import type { ContextItem } from "../protocol";
import { chooseFrom } from "../telling";
import { placeOf } from "./links";
import type { Attachment } from "./messages";

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

/** Files and folders, as they are named in the workspace. */
export function attachmentsOf(uris: readonly Uri[]): Promise<Attachment[]> {
  return Promise.all(
    uris.map(async (uri) => {
      const name = workspace.asRelativePath(uri);
      const { type } = await workspace.fs.stat(uri);
      const kind = type & FileType.Directory ? "folder" : "file";
      return { kind, uri: uri.toString(), label: kind === "folder" ? `${name}/` : name } as const;
    }),
  );
}

/** The attachment for the server, as the document is now. */
export function itemsOf(attachment: Attachment): ContextItem[] {
  const { kind } = attachment;
  if (kind === "problems") return problems(attachment.uri);
  if (kind === "folder") return [{ kind, uri: attachment.uri }];
  const document = openDocument(attachment.uri);
  if (kind === "file") return [document ? fileItem(document) : { kind, uri: attachment.uri }];
  const { start, end } = attachment.range;
  const name = kind === "symbol" ? { name: attachment.label } : {};
  if (!document) return [{ kind: "selection", uri: attachment.uri, range: attachment.range, ...name }];
  const range = new Range(start.line, start.character, end.line, end.character);
  const inside = languages.getDiagnostics(document.uri).filter((it) => it.range.intersection(range));
  return [{ ...selectionItem(document, range), ...name }, ...problemsItem(document, inside)];
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

/** The file that code is for: the one that is named, or that is open, with what is selected in it. */
export async function targetOf(
  named: string | undefined,
): Promise<{ name: string; context: ContextItem[] } | undefined> {
  const found = named ? (await filesNamed(named))[0] : undefined;
  if (found) return { name: workspace.asRelativePath(found), context: [{ kind: "file", uri: found.toString() }] };
  const looked = lookedAt();
  return looked?.uri ? { name: workspace.asRelativePath(Uri.parse(looked.uri)), context: itemsOf(looked) } : undefined;
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
  return (await chooseFrom(items, { placeHolder: t("Select a file") }))?.uri;
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
    return ((await workspace.fs.stat(uri)).type & FileType.File) !== 0;
  } catch {
    return false;
  }
}
