// The files and hunks under review, beside the chat.

import {
  EventEmitter,
  ThemeColor,
  ThemeIcon,
  type TreeDataProvider,
  TreeItem,
  TreeItemCollapsibleState,
  type TreeView,
  Uri,
  window,
  workspace,
} from "vscode";
import { t, tn } from "../l10n";
import type { ReviewHunk } from "../protocol";
import {
  decisionOn,
  isInDocument,
  isPending,
  nameOf,
  oneLine,
  operationName,
  pendingIn,
  sizeOf,
} from "../session/reviews";
import { describe, treeItemOf } from "../telling";
import type { ShownFiles } from "./files";
import type { Shown } from "./shown";

export type Node = { shown: Shown; hunk?: ReviewHunk };

const FAINT = new ThemeColor("disabledForeground");
const ICONS: Partial<Record<string, string>> = { create: "diff-added", delete: "diff-removed", rename: "diff-renamed" };

export class ReviewTree implements TreeDataProvider<Node> {
  readonly #changed = new EventEmitter<void>();
  readonly onDidChangeTreeData = this.#changed.event;
  readonly #view: TreeView<Node> = window.createTreeView("odin.reviewTree", { treeDataProvider: this });

  constructor(private readonly files: ShownFiles) {}

  /** Where the user is among them, in words. */
  place(words: string | undefined): void {
    describe(this.#view, words);
  }

  refresh(): void {
    const count = this.files.pending.length;
    this.#view.badge =
      count > 0 ? { value: count, tooltip: tn(count, "{0} change to review", "{0} changes to review") } : undefined;
    this.#changed.fire();
  }

  getChildren(node?: Node): Node[] {
    if (!node) {
      return this.files.open.map((shown) => ({ shown }));
    }
    const { shown, hunk: parent } = node;
    const hunks = parent || shown.file.operation !== "edit" ? [] : shown.file.hunks;
    return hunks.filter((it) => it.state !== "superseded").map((hunk) => ({ shown, hunk }));
  }

  getTreeItem({ shown: file, hunk }: Node): TreeItem {
    return treeItemOf(hunk ? this.#hunkItem(file, hunk) : this.#fileItem(file));
  }

  dispose(): void {
    this.#view.dispose();
    this.#changed.dispose();
  }

  #fileItem(shown: Shown): TreeItem {
    const { file } = shown;
    const isEdit = file.operation === "edit";
    const item = new TreeItem(
      Uri.parse(file.uri),
      isEdit ? TreeItemCollapsibleState.Expanded : TreeItemCollapsibleState.None,
    );
    const icon = ICONS[file.operation];
    item.id = `${shown.review.proposalId} ${file.uri}`;
    item.iconPath = icon ? new ThemeIcon(icon) : ThemeIcon.File;
    item.label = file.operation === "rename" ? `${nameOf(file.uri)} → ${nameOf(file.newUri ?? "")}` : undefined;
    const folder = workspace.asRelativePath(Uri.parse(file.uri)).split("/").slice(0, -1).join("/");
    const about = [sizeOf(file.hunks), isEdit ? "" : operationName(file.operation), shown.review.origin, folder];
    item.description = about.filter((it) => it).join(" · ");
    item.tooltip = [file.note, ...new Set(file.hunks.map((it) => it.reason))].filter((it) => it).join("\n");
    item.contextValue = pendingIn(file).length > 0 ? "file" : "decided";
    item.command = { title: t("Show Changes"), command: "odin.vscode.showChange", arguments: [{ shown }] };
    return item;
  }

  #hunkItem(file: Shown, hunk: ReviewHunk): TreeItem {
    const item = new TreeItem(oneLine(lineOf(file, hunk)) || t("Blank lines"));
    item.id = hunk.id;
    const place = t("line {0}, {1}", hunk.range.start.line + 1, sizeOf([hunk]));
    item.description = [place, decisionOn(hunk).toLowerCase()].filter((it) => it).join(" · ");
    item.tooltip = hunk.reason;
    item.contextValue = isPending(hunk) ? "hunk" : "decided";
    item.iconPath = isPending(hunk) ? undefined : new ThemeIcon(isInDocument(hunk) ? "check" : "close", FAINT);
    item.command = { title: t("Show Change"), command: "odin.vscode.showChange", arguments: [{ shown: file, hunk }] };
    return item;
  }
}

/** What the line will be, or was if it goes. */
function lineOf({ texts }: Shown, hunk: ReviewHunk): string {
  const { layout } = texts;
  const lines = layout.of(hunk.id);
  if (!lines) {
    return hunk.newText || hunk.oldText;
  }
  return hunk.newText ? layout.proposed.line(lines.proposed[0]) : layout.real.line(lines.real[0]);
}
