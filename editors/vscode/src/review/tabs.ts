// The tabs in which a review is shown: VS Code's own diffs.

import {
  commands,
  Position,
  Range,
  Selection,
  type Tab,
  TabInputText,
  TabInputTextDiff,
  type TextDocument,
  type TextDocumentShowOptions,
  type TextEditor,
  TextEditorRevealType,
  Uri,
  window,
  workspace,
} from "vscode";
import { t } from "../l10n";
import { showDiffAs } from "../telling";
import { SCHEME, sameUri } from "./addresses";

const SCROLL_MS = 1000;

export interface Sides {
  title: string;
  left: Uri;
  right: Uri;
}

/** A line of a proposed text. */
export interface Spot {
  right: Uri;
  line: number;
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
  await showDiffAs(title, left, right, options);
}

/** All in one tab, which takes the focus; the same files are the same tab. */
export async function showAll(files: readonly Pick<Sides, "left" | "right">[], at?: Spot): Promise<void> {
  const query = files.map(({ right }) => `${right.path}?${right.query}`).join("&");
  const line = (at?.line ?? 0) + 1;
  const range = { startLineNumber: line, startColumn: 1, endLineNumber: line, endColumn: 1 };
  // The API's `vscode.changes` opens a new tab each time, and goes nowhere in it.
  await commands.executeCommand("_workbench.openMultiDiffEditor", {
    title: t("Odin: Proposed Changes"),
    multiDiffSourceUri: Uri.from({ scheme: `${SCHEME}-set`, path: "/", query }),
    resources: files.map(({ left, right }) => ({ originalUri: left, modifiedUri: right })),
    reveal: at && { modifiedUri: at.right, range },
  });
}

/** Go to a line in the tab in front, if it shows several files and this one among them. VS Code has an editor for a
 * file only while it is near the screen, and older versions do not scroll there: `false` then. */
export async function goInSet(at: Spot): Promise<boolean> {
  const { activeTab } = window.tabGroups.activeTabGroup;
  const diffs = activeTab ? diffsOf(activeTab) : [];
  if (!diffs.some((it) => sameUri(it.modified, at.right))) {
    return false;
  }
  await showAll(
    diffs.map(({ original, modified }) => ({ left: original, right: modified })),
    at,
  );
  const editor = await visibleEditor(at.right);
  if (editor) {
    const place = new Position(at.line, 0);
    editor.selection = new Selection(place, place);
    editor.revealRange(editor.selection, TextEditorRevealType.InCenterIfOutsideViewport);
  }
  return editor !== undefined;
}

async function visibleEditor(uri: Uri): Promise<TextEditor | undefined> {
  const find = () => window.visibleTextEditors.find((it) => sameUri(it.document.uri, uri));
  return (
    find() ??
    new Promise((resolve) => {
      const done = () => {
        subscription.dispose();
        clearTimeout(impatience);
        resolve(find());
      };
      const subscription = window.onDidChangeVisibleTextEditors(() => find() && done());
      const impatience = setTimeout(done, SCROLL_MS);
    })
  );
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

export function allTabs(): Tab[] {
  return window.tabGroups.all.flatMap((group) => group.tabs);
}
