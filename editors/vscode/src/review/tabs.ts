// The tabs in which a review is shown: VS Code's own diffs.

import {
  commands,
  Range,
  type Tab,
  TabInputText,
  TabInputTextDiff,
  type TextDocument,
  type TextDocumentShowOptions,
  type Uri,
  window,
  workspace,
} from "vscode";
import { SCHEME, sameUri } from "./addresses";

export interface Sides {
  title: string;
  left: Uri;
  right: Uri;
}

export interface HowToShow {
  /** Leave the focus where it is. */
  preserveFocus?: boolean;
  /** Leave also the tab in front that is there. */
  background?: boolean;
  line?: number;
}

export async function showDiff({ left, right, title }: Sides, how: HowToShow = {}): Promise<void> {
  // `background` is not in the API's types. It is handed on all the same, in every version that Odin runs in.
  const options: TextDocumentShowOptions & { background?: boolean } = {
    preview: false,
    preserveFocus: how.preserveFocus,
    background: how.background,
    selection: how.line === undefined ? undefined : new Range(how.line, 0, how.line, 0),
  };
  await commands.executeCommand("vscode.diff", left, right, title, options);
}

/** All in one tab. It takes the focus: for when the user wants it. */
export async function showAll(title: string, files: readonly Sides[]): Promise<void> {
  const resources = files.map(({ left, right }) => [right, left, right]);
  await commands.executeCommand("vscode.changes", title, resources);
}

/** Tabs that show the diff of one file. */
export function diffTabsOf(right: Uri): Tab[] {
  return allTabs().filter((it) => it.input instanceof TabInputTextDiff && sameUri(it.input.modified, right));
}

/** Tabs that show the diffs of several files, this one among them. */
export function multiDiffTabsOf(right: Uri): Tab[] {
  return allTabs().filter((it) => diffsOf(it).length > 0 && urisOf(it).some((uri) => sameUri(uri, right)));
}

export function reviewTabs(): Tab[] {
  return allTabs().filter(isReview);
}

export function isReview(tab: Tab): boolean {
  return urisOf(tab).some((uri) => uri.scheme === SCHEME);
}

export function isReviewInFront(): boolean {
  return kindInFront() !== "";
}

/** Of the tab in front: the review of a file, or of a set of them, if it is one. */
export function kindInFront(): "file" | "set" | "" {
  const { activeTab } = window.tabGroups.activeTabGroup;
  if (!activeTab || !isReview(activeTab)) {
    return "";
  }
  return urisOf(activeTab).length > 2 ? "set" : "file";
}

export function urisOf(tab: Tab): Uri[] {
  const { input } = tab;
  if (input instanceof TabInputText) {
    return [input.uri];
  }
  const diffs = input instanceof TabInputTextDiff ? [input] : diffsOf(tab);
  return diffs.flatMap(({ original, modified }) => [original, modified]).filter((it) => it !== undefined);
}

/** Those of a tab with several. The API has it without a type. */
function diffsOf({ input }: Tab): TabInputTextDiff[] {
  return (input as { textDiffs?: TabInputTextDiff[] } | undefined)?.textDiffs ?? [];
}

/** Whether a file is to be seen in an editor of its own, not only as a side of a diff, which has no column. */
export function isInEditor(uri: Uri): boolean {
  return window.visibleTextEditors.some((it) => it.viewColumn !== undefined && sameUri(it.document.uri, uri));
}

/** Close them without a question: what is unsaved in these documents has been taken care of. They are saved even if
 * nothing seems to be unsaved: VS Code tells of all that was typed before it says that they are. Which tabs is asked
 * last, since VS Code makes new objects for them all the time. */
export async function close(which: () => readonly Tab[], documents: readonly Uri[]): Promise<void> {
  for (const uri of documents) {
    await openDocument(uri)?.save();
  }
  await window.tabGroups.close(which(), true);
}

export function openDocument(uri: Uri): TextDocument | undefined {
  return workspace.textDocuments.find((it) => sameUri(it.uri, uri));
}

function allTabs(): Tab[] {
  return window.tabGroups.all.flatMap((group) => group.tabs);
}
