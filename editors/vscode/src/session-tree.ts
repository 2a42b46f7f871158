// The sessions of the workspace, beside the chat: the current one is marked, and each can be opened, renamed and deleted.

import {
  type Disposable,
  EventEmitter,
  ThemeIcon,
  type TreeDataProvider,
  TreeItem,
  type TreeView,
  window,
} from "vscode";
import type { Chat } from "./chat/chat";
import { t } from "./l10n";
import type { Odin } from "./odin";
import type { SessionSummary } from "./protocol";
import { sessionItem } from "./sessions";
import { treeItemOf } from "./telling";

/** After these the list is another one. */
const CHANGING: ReadonlySet<string> = new Set(["turnFinished", "sessionRenamed", "sessionRestored"]);

export class SessionTree implements TreeDataProvider<SessionSummary> {
  readonly #changed = new EventEmitter<void>();
  readonly onDidChangeTreeData = this.#changed.event;
  readonly #view: TreeView<SessionSummary> = window.createTreeView("odin.sessions", { treeDataProvider: this });
  readonly #subscriptions: Disposable[];
  #current: string | undefined;

  constructor(
    private readonly odin: Odin,
    private readonly chat: Chat,
  ) {
    this.#subscriptions = [
      odin.onEvent(({ event }) => CHANGING.has(event.kind) && this.refresh()),
      odin.onDidChangeState(() => this.refresh()),
      chat.store.onDidChange(() => this.#mark()),
    ];
  }

  refresh(): void {
    this.#changed.fire();
  }

  /** Nobody starts a server to see a list. */
  async getChildren(session?: SessionSummary): Promise<SessionSummary[]> {
    if (session || this.odin.state.kind !== "ready") return [];
    return (await this.chat.sessions.list()).filter((it) => it.messages > 0);
  }

  getTreeItem(session: SessionSummary): TreeItem {
    const { label, description, detail } = sessionItem(session);
    const isCurrent = session.sessionId === this.#current;
    const item = new TreeItem(label);
    item.id = session.sessionId;
    item.description = description;
    item.tooltip = detail;
    item.iconPath = new ThemeIcon(isCurrent ? "circle-filled" : "comment-discussion");
    item.contextValue = "session";
    item.accessibilityInformation = {
      label: isCurrent ? t("{0}, {1}, shown in the chat", label, description ?? "") : `${label}, ${description}`,
    };
    item.command = { title: t("Open Session"), command: "odin.vscode.openSession", arguments: [session] };
    return treeItemOf(item);
  }

  dispose(): void {
    for (const it of [...this.#subscriptions, this.#view, this.#changed]) it.dispose();
  }

  #mark(): void {
    const { sessionId } = this.chat.store.shown.state.head;
    if (sessionId === this.#current) return;
    this.#current = sessionId;
    this.refresh();
  }
}
