// The palette: what a user asks Odin for, with what is selected going along.

import * as path from "node:path";
import { commands, type Disposable, languages, type QuickPickItem, ThemeIcon, Uri, window, workspace } from "vscode";
import { inBackground } from "./background";
import type { Chat } from "./chat/chat";
import type { Attachment } from "./chat/messages";
import { attachmentsOf, lookedAt } from "./chat/surroundings";
import { attachedTo, fileItem } from "./context";
import type { ReadOnlyDocuments } from "./documents";
import { t, tn } from "./l10n";
import type { Mode, Odin } from "./odin";
import type { Problems } from "./problems";
import type { ContextItem, SessionSummary, Undone, UndoParams } from "./protocol";
import type { Keys } from "./secrets";
import { isServerProblem, isUnset } from "./server/life";
import type { Servicing } from "./server/servicing";
import type { SessionTree } from "./session-tree";
import { SessionCommands } from "./sessions";
import { SettingCommands } from "./setting-commands";
import { askForText, chooseFrom, tellUser } from "./telling";
import { UpkeepCommands } from "./upkeep";
import { modeName, wordsOf } from "./words";

export interface Parts {
  odin: Odin;
  chat: Chat;
  servicing: Servicing;
  keys: Keys;
  documents: ReadOnlyDocuments;
  problems: Problems;
  sessionTree: SessionTree;
  /** Have the chat on the screen, the focus where it is. */
  showChat(): void;
  /** Have these go with the next message, which the user writes now. */
  attach(attachments: readonly Attachment[]): Promise<void>;
  showLog(): void;
}

export function registerCommands(parts: Parts): Disposable[] {
  const turns = new TurnCommands(parts);
  const settings = new SettingCommands(parts);
  const sessions = new SessionCommands(parts.odin, parts.chat, parts.showChat);
  const upkeep = new UpkeepCommands(parts.odin, parts.chat, parts.showChat);
  const { servicing } = parts;
  const handlers: Record<string, (...given: never[]) => unknown> = {
    ask: () => turns.say("ask_mode"),
    addToChat: (_?: Uri, uris?: Uri[]) => addToChat(parts, uris),
    askAboutFile: (uri?: Uri) => turns.askAbout(uri),
    plan: () => turns.say("plan_mode"),
    edit: () => turns.say("edit_mode"),
    cancel: () => parts.chat.turns.cancel(),
    cancelAndSendNext: () => parts.chat.turns.cancel("next"),
    cancelAndEditQueued: () => parts.chat.turns.cancel("return"),
    cancelCompaction: () => parts.chat.turns.cancelCompaction(),
    continue: () => turns.goOn(),
    init: () => turns.init(),
    executePlan: () => turns.executePlan(),
    doCommentRequests: () => turns.doCommentRequests(),
    undoTurn: (what?: UndoParams) => turns.undo(what),
    undoInFile: () => turns.undoInFile(),
    newSession: () => sessions.begin(),
    resumeSession: () => sessions.resume(),
    searchSessions: () => sessions.search(),
    forkSession: () => sessions.fork(),
    renameSession: (session?: SessionSummary) => sessions.rename(session),
    exportSession: () => sessions.export(),
    deleteSession: async (session?: SessionSummary) => {
      await sessions.delete(session);
      parts.sessionTree.refresh();
    },
    openSession: (session?: SessionSummary) => (session ? sessions.open(session) : sessions.resume()),
    note: () => upkeep.note(),
    removeLast: () => upkeep.removeLast(),
    compact: () => upkeep.compact(),
    clear: () => upkeep.clear(),
    selectModel: () => settings.selectModel(),
    selectRole: () => settings.selectRole(),
    manageApprovals: () => settings.manageApprovals(),
    showExtensions: () => settings.showExtensions(),
    trust: () => settings.decideTrust("ask"),
    restrict: () => settings.decideTrust("restrict"),
    setKey: (provider?: unknown) => settings.setKey(provider),
    removeKey: () => settings.removeKey(),
    showContext: () => settings.showContext(),
    countContext: () => settings.showContext(true),
    openSettingsFile: () => settings.openFile(),
    openSettings: () => commands.executeCommand("workbench.action.openSettings", "@ext:odin-lsp.odin"),
    install: () => servicing.install(),
    chooseServer: () => servicing.choose(),
    restart: () => servicing.restart(),
    doctor: () => servicing.doctor(),
    help: () => servicing.help(),
    showLog: () => parts.showLog(),
    showActions: () => showActions(parts),
  };
  return Object.entries(handlers).map(([verb, handler]) =>
    commands.registerCommand(`odin.vscode.${verb}`, async (...given: never[]) => {
      try {
        await handler(...given);
      } catch (error) {
        const actions = isServerProblem(error) ? error.actions : [];
        if (isUnset({ actions })) parts.showChat();
        else inBackground(parts.problems.tell(wordsOf(error), actions));
      }
    }),
  );
}

class TurnCommands {
  constructor(private readonly parts: Parts) {}

  async say(mode: Mode): Promise<void> {
    const editor = window.activeTextEditor;
    const attached = attachedTo(editor, editor ? languages.getDiagnostics(editor.document.uri) : []);
    await this.take(mode, attached.items, attached.label);
  }

  async askAbout(uri: Uri | undefined): Promise<void> {
    const wanted = uri ?? window.activeTextEditor?.document.uri;
    if (wanted) {
      const open = workspace.textDocuments.find((it) => it.uri.toString() === wanted.toString());
      const item = open ? fileItem(open) : ({ kind: "file", uri: wanted.toString() } as const);
      await this.take("ask_mode", [item], path.posix.basename(wanted.path));
    }
  }

  async goOn(): Promise<void> {
    this.parts.showChat();
    await this.parts.chat.sessions.restore();
    await this.parts.chat.turns.goOnWithLast();
  }

  async init(): Promise<void> {
    this.parts.showChat();
    await this.parts.odin.execute("odin.init", { turnId: crypto.randomUUID() });
  }

  async executePlan(): Promise<void> {
    const document = window.activeTextEditor?.document;
    if (!document) {
      throw new Error(t("Open a plan first."));
    }
    this.parts.showChat();
    await this.parts.chat.turns.runPlan(document.uri.toString());
  }

  /** All of the workspace, together. */
  async doCommentRequests(): Promise<void> {
    const { requests, text } = await this.parts.odin.execute("odin.commentRequests", { kind: "edit" });
    if (requests.length === 0) {
      inBackground(tellUser("info", t("Odin: No comment in this workspace ends in `odin!` or `AI!`.")));
      return;
    }
    this.parts.showChat();
    await this.parts.chat.turns.say("edit_mode", text, [], [], undefined, false);
  }

  /** What is named, or the last turn; what was undone can be brought back from the message. */
  async undo(what: UndoParams = {}): Promise<void> {
    const undone = await this.parts.odin.execute("odin.undoTurn", what);
    inBackground(this.tellUndone(undone));
  }

  async undoInFile(): Promise<void> {
    const document = window.activeTextEditor?.document;
    if (!document) {
      throw new Error(t("Open a file first."));
    }
    await this.undo({ uri: document.uri.toString() });
  }

  private async tellUndone(undone: Undone): Promise<void> {
    const actions = undone.undoId ? [t("Bring Back")] : [];
    if (await tellUser("info", t("Odin: {0}", undoneWords(undone)), ...actions)) {
      await this.undo({ turnId: undone.undoId });
    }
  }

  private async take(mode: Mode, items: ContextItem[], label: string): Promise<void> {
    const text = await askForText({
      title: t("Odin: {0}", modeName(mode)),
      prompt: label ? t("About {0}.", label) : undefined,
      placeHolder: promptFor(mode),
      ignoreFocusOut: true,
    });
    if (text?.trim()) {
      this.parts.showChat();
      await this.parts.chat.turns.say(mode, text, items);
    }
  }
}

function promptFor(mode: Mode): string {
  return {
    ask_mode: t("What do you want to know?"),
    plan_mode: t("What should Odin plan?"),
    edit_mode: t("What should Odin change?"),
  }[mode];
}

/** What is selected in the explorer, or what the user looks at. */
async function addToChat({ attach }: Parts, uris: readonly Uri[] | undefined): Promise<void> {
  const looked = lookedAt();
  const attachments = uris ? await attachmentsOf(uris) : looked ? [looked] : [];
  if (attachments.length === 0) throw new Error(t("Open a file first."));
  await attach(attachments);
}

/** What can be done now, behind the item in the status bar. */
async function showActions({ odin, chat }: Parts): Promise<void> {
  const { state } = odin;
  const items: (QuickPickItem & { command: string })[] = [];
  const add = (icon: string, label: string, command: string): void => {
    items.push({ label, command, iconPath: new ThemeIcon(icon) });
  };
  if (state.kind === "failed") {
    for (const action of state.actions) {
      add("warning", action.title, action.command);
    }
  }
  if (chat.turns.running) {
    add("debug-stop", t("Cancel Turn"), "odin.vscode.cancel");
  }
  add("comment-discussion", t("Open Chat"), "odin.chat.focus");
  add("question", t("Ask…"), "odin.vscode.ask");
  if (workspace.isTrusted) {
    add("checklist", t("Plan…"), "odin.vscode.plan");
    add("edit", t("Edit…"), "odin.vscode.edit");
  } else {
    add("shield", t("Manage Workspace Trust"), "workbench.trust.manage");
  }
  add("server-environment", t("Select Model…"), "odin.vscode.selectModel");
  add("person", t("Select Role…"), "odin.vscode.selectRole");
  add("key", t("Set API Key…"), "odin.vscode.setKey");
  add("history", t("Resume Session…"), "odin.vscode.resumeSession");
  add("discard", t("Undo Last Turn"), "odin.vscode.undoTurn");
  add("list-tree", t("Show What Would Be Sent"), "odin.vscode.showContext");
  add("debug-restart", t("Restart Server"), "odin.vscode.restart");
  add("pulse", t("Run Doctor"), "odin.vscode.doctor");
  add("output", t("Show Log"), "odin.vscode.showLog");
  add("gear", t("Open Settings"), "odin.vscode.openSettings");
  const placeHolder = state.kind === "failed" ? state.why : t("Select an action");
  const chosen = await chooseFrom(items, { title: "Odin", placeHolder });
  if (chosen) {
    await commands.executeCommand(chosen.command);
  }
}

function undoneWords({ restored, kept }: Undone): string {
  const left = kept.map((it) => t("{0} is unchanged: {1}", path.posix.basename(Uri.parse(it.uri).path), it.reason));
  return [tn(restored.length, "{0} file restored", "{0} files restored"), ...left].join("; ");
}
