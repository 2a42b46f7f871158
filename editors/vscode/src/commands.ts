// The palette: what a user asks Odin for, with what is selected going along.

import { homedir } from "node:os";
import * as path from "node:path";
import {
  commands,
  type Disposable,
  languages,
  type QuickPickItem,
  QuickPickItemKind,
  ThemeIcon,
  Uri,
  window,
  workspace,
} from "vscode";
import { approvalItems } from "./approvals";
import type { Conversation } from "./chat/conversation";
import { attachedTo, fileItem } from "./context";
import { contextReport } from "./context-report";
import type { ReadOnlyDocuments } from "./documents";
import { extensionItems } from "./extensions";
import { AS_CONFIGURED, effortItems, modelItems } from "./models";
import type { Mode, Odin } from "./odin";
import type { Problems } from "./problems";
import type { ContextItem, ModelState, Undone, UndoParams } from "./protocol";
import { roleItems } from "./roles";
import { type Keys, keyProblem, PROVIDERS, type Provider } from "./secrets";
import { isServerProblem, wordsOf } from "./server/life";
import type { Servicing } from "./server/servicing";
import { SessionCommands } from "./sessions";
import { SETTINGS_FILE, userFile } from "./settings";
import { MODE_NAMES } from "./status";
import { UpkeepCommands } from "./upkeep";
import { counted } from "./words";

export interface Parts {
  odin: Odin;
  chat: Conversation;
  servicing: Servicing;
  keys: Keys;
  documents: ReadOnlyDocuments;
  problems: Problems;
  /** Have the chat on the screen, the focus where it is. */
  showChat(): void;
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
    askAboutFile: (uri?: Uri) => turns.askAbout(uri),
    plan: () => turns.say("plan_mode"),
    edit: () => turns.say("edit_mode"),
    cancel: () => parts.chat.cancel(),
    cancelAndSendNext: () => parts.chat.cancel("next"),
    cancelAndEditQueued: () => parts.chat.cancel("return"),
    cancelCompaction: () => parts.chat.cancelCompaction(),
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
    renameSession: () => sessions.rename(),
    exportSession: () => sessions.export(),
    deleteSession: () => sessions.delete(),
    note: () => upkeep.note(),
    removeLast: () => upkeep.removeLast(),
    compact: () => upkeep.compact(),
    clear: () => upkeep.clear(),
    selectModel: () => settings.selectModel(),
    selectRole: () => settings.selectRole(),
    manageApprovals: () => settings.manageApprovals(),
    showExtensions: () => settings.showExtensions(),
    trust: () => settings.decideTrust("trust"),
    restrict: () => settings.decideTrust("restrict"),
    setKey: (provider?: unknown) => settings.setKey(provider),
    removeKey: () => settings.removeKey(),
    showContext: () => settings.showContext(),
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
        void parts.problems.tell(wordsOf(error), actions);
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
    await this.parts.chat.restore();
    await this.parts.chat.goOnWithLast();
  }

  async init(): Promise<void> {
    this.parts.showChat();
    await this.parts.odin.execute("odin.init", { turnId: crypto.randomUUID() });
  }

  async executePlan(): Promise<void> {
    const document = window.activeTextEditor?.document;
    if (!document) {
      throw new Error("open a plan first");
    }
    this.parts.showChat();
    await this.parts.odin.execute("odin.executePlan", { uri: document.uri.toString(), turnId: crypto.randomUUID() });
  }

  /** All of the workspace, together. */
  async doCommentRequests(): Promise<void> {
    const { requests, text } = await this.parts.odin.execute("odin.commentRequests", { kind: "edit" });
    if (requests.length === 0) {
      void window.showInformationMessage("Odin: No comment in this workspace ends in `odin!` or `AI!`.");
      return;
    }
    this.parts.showChat();
    await this.parts.chat.take("edit_mode", text);
  }

  /** What is named, or the last turn; what was undone can be brought back from the message. */
  async undo(what: UndoParams = {}): Promise<void> {
    const undone = await this.parts.odin.execute("odin.undoTurn", what);
    const actions = undone.undoId ? ["Bring Back"] : [];
    void window.showInformationMessage(`Odin: ${undoneWords(undone)}`, ...actions).then((chosen) => {
      if (chosen) return this.undo({ turnId: undone.undoId });
    });
  }

  async undoInFile(): Promise<void> {
    const document = window.activeTextEditor?.document;
    if (!document) {
      throw new Error("open a file first");
    }
    await this.undo({ uri: document.uri.toString() });
  }

  private async take(mode: Mode, items: ContextItem[], label: string): Promise<void> {
    const text = await window.showInputBox({
      title: `Odin: ${MODE_NAMES[mode]}`,
      prompt: label ? `About ${label}.` : undefined,
      placeHolder: PLACEHOLDERS[mode],
      ignoreFocusOut: true,
    });
    if (text?.trim()) {
      this.parts.showChat();
      await this.parts.chat.take(mode, text, items);
    }
  }
}

const PLACEHOLDERS: Readonly<Record<Mode, string>> = {
  ask_mode: "What do you want to know?",
  plan_mode: "What should be planned?",
  edit_mode: "What should be changed?",
};

class SettingCommands {
  constructor(private readonly parts: Parts) {}

  async selectModel(): Promise<void> {
    const { odin } = this.parts;
    const now = await odin.execute("odin.model", {});
    const items: (QuickPickItem & { model?: string; run?: () => unknown })[] = [
      ...modelItems(now),
      { label: "", kind: QuickPickItemKind.Separator },
      ...(now.picked ? [{ ...AS_CONFIGURED, iconPath: new ThemeIcon("gear") }] : []),
      { label: "Other…", iconPath: new ThemeIcon("edit"), run: () => this.nameModel(now.model) },
      { label: "Set API Key…", iconPath: new ThemeIcon("key"), run: () => this.setKey() },
    ];
    const chosen = await window.showQuickPick(items, { title: "Select Model", placeHolder: "From the next turn on" });
    await chosen?.run?.();
    const model = chosen?.model && (await this.withEffort(now, chosen.model));
    if (model !== undefined) {
      await odin.execute("odin.model", { model });
    }
  }

  async selectRole(): Promise<void> {
    const { odin } = this.parts;
    const items = roleItems(await odin.execute("odin.role", {}));
    const chosen = await window.showQuickPick(items, { title: "Select Role", matchOnDetail: true });
    if (chosen) {
      await odin.execute("odin.role", { role: chosen.role });
    }
  }

  /** What the user has allowed in the session that is shown; what is chosen is asked about again. */
  async manageApprovals(): Promise<void> {
    const { odin, chat } = this.parts;
    const { sessionId } = chat.state.head;
    const session = sessionId ? { sessionId } : {};
    const { allowed } = await odin.execute("odin.permissions", session);
    if (allowed.length === 0) {
      window.showInformationMessage("Odin: there are no approvals.");
      return;
    }
    const chosen = await window.showQuickPick(approvalItems(allowed), {
      title: "Manage Approvals",
      placeHolder: "Select approvals to remove; Odin then asks you again",
      canPickMany: true,
    });
    for (const { id } of chosen ?? []) {
      await odin.execute("odin.permissions", { ...session, action: "remove", id });
    }
    if (chosen?.length) {
      window.showInformationMessage(`Odin: removed ${counted(chosen.length, "approval")}.`);
    }
  }

  /** What is plugged in; what is chosen is switched on or off until Odin ends, or its file is opened. */
  async showExtensions(): Promise<void> {
    const { odin } = this.parts;
    const { extensions } = await odin.execute("odin.extensions", {});
    if (extensions.length === 0) {
      window.showInformationMessage("Odin: there are no skills, commands, agents, hooks or MCP servers.");
      return;
    }
    const chosen = await window.showQuickPick(extensionItems(extensions), {
      title: "Extensions",
      placeHolder: "Select one to switch it off or on until Odin ends, or to open a file that is not used",
      matchOnDescription: true,
      matchOnDetail: true,
    });
    if (chosen?.action) {
      await odin.execute("odin.extensions", { action: chosen.action, name: chosen.name });
      window.showInformationMessage(`Odin: ${chosen.label} is ${chosen.action === "enable" ? "on" : "off"}.`);
    } else if (chosen) {
      await window.showTextDocument(Uri.file(chosen.source));
    }
  }

  async decideTrust(decision: "trust" | "restrict"): Promise<void> {
    const { trusted } = await this.parts.odin.execute("odin.trust", { decision });
    window.showInformationMessage(
      trusted
        ? "Odin: the workspace's settings are trusted as they are now."
        : "Odin: the workspace's settings may only restrict.",
    );
  }

  /** Of the provider that needs one, if that is known. */
  async setKey(wanted?: unknown): Promise<void> {
    const providers = Object.keys(PROVIDERS) as Provider[];
    const provider = providers.find((it) => it === wanted) ?? (await pickProvider(providers, "Set API Key"));
    const key =
      provider &&
      (await window.showInputBox({
        title: `API Key of ${PROVIDERS[provider]}`,
        prompt: "It is kept in VS Code's own safe, and is in no settings and no log.",
        password: true,
        ignoreFocusOut: true,
        validateInput: keyProblem,
      }));
    if (provider && key) {
      await this.parts.keys.set(provider, key.trim());
    }
  }

  async removeKey(): Promise<void> {
    const kept = Object.keys(await this.parts.keys.all()) as Provider[];
    if (kept.length === 0) {
      window.showInformationMessage("Odin: VS Code keeps no API keys for Odin.");
      return;
    }
    const provider = await pickProvider(kept, "Remove API Key");
    if (provider) {
      await this.parts.keys.remove(provider);
    }
  }

  async showContext(): Promise<void> {
    const preview = await this.parts.odin.execute("odin.context", {});
    await this.parts.documents.show("What Would Be Sent.md", contextReport(preview), "markdown");
  }

  async openFile(): Promise<void> {
    const folders = (workspace.workspaceFolders ?? []).slice(0, 1); // the server reads that of the first
    const places = [
      { label: "User", description: "for every workspace", file: userFile(process.platform, process.env, homedir()) },
      ...folders.map((it) => ({
        label: "Workspace",
        description: it.name,
        file: path.join(it.uri.fsPath, SETTINGS_FILE),
      })),
    ];
    const chosen = await window.showQuickPick(places, { title: "Open Settings File", placeHolder: SETTINGS_FILE });
    if (chosen) {
      await openOrCreate(Uri.file(chosen.file));
    }
  }

  private async withEffort(now: ModelState, model: string): Promise<string | undefined> {
    const items = effortItems(now, model);
    const isAsked = items.length > 1;
    const chosen = isAsked
      ? await window.showQuickPick(items, { title: "Select Effort", placeHolder: model })
      : items[0];
    return chosen?.model;
  }

  private async nameModel(value: string): Promise<void> {
    const model = await window.showInputBox({ title: "Select Model", prompt: "provider/model[@effort]", value });
    if (model?.trim()) {
      await this.parts.odin.execute("odin.model", { model: model.trim() });
    }
  }
}

/** What can be done now, behind the item in the status bar. */
async function showActions({ odin, chat }: Parts): Promise<void> {
  const { state } = odin;
  const items: (QuickPickItem & { command: string })[] = [];
  const add = (icon: string, label: string, command: string): void =>
    void items.push({ label, command, iconPath: new ThemeIcon(icon) });
  if (state.kind === "failed") {
    for (const action of state.actions) {
      add("warning", action.title, action.command);
    }
  }
  if (chat.running) {
    add("debug-stop", "Cancel Turn", "odin.vscode.cancel");
  }
  add("comment-discussion", "Open Chat", "odin.chat.focus");
  add("question", "Ask…", "odin.vscode.ask");
  if (workspace.isTrusted) {
    add("checklist", "Plan…", "odin.vscode.plan");
    add("edit", "Edit…", "odin.vscode.edit");
  } else {
    add("shield", "Manage Workspace Trust", "workbench.trust.manage");
  }
  add("server-environment", "Select Model…", "odin.vscode.selectModel");
  add("person", "Select Role…", "odin.vscode.selectRole");
  add("key", "Set API Key…", "odin.vscode.setKey");
  add("history", "Resume Session…", "odin.vscode.resumeSession");
  add("discard", "Undo Last Turn", "odin.vscode.undoTurn");
  add("list-tree", "Show What Would Be Sent", "odin.vscode.showContext");
  add("debug-restart", "Restart Server", "odin.vscode.restart");
  add("pulse", "Run Doctor", "odin.vscode.doctor");
  add("output", "Show Log", "odin.vscode.showLog");
  add("gear", "Open Settings", "odin.vscode.openSettings");
  const placeHolder = state.kind === "failed" ? state.why : "What to do";
  const chosen = await window.showQuickPick(items, { title: "Odin", placeHolder });
  if (chosen) {
    await commands.executeCommand(chosen.command);
  }
}

async function pickProvider(providers: readonly Provider[], title: string): Promise<Provider | undefined> {
  const items = providers.map((provider) => ({ label: PROVIDERS[provider], provider }));
  return (await window.showQuickPick(items, { title, placeHolder: "Provider" }))?.provider;
}

function undoneWords({ restored, kept }: Undone): string {
  const left = kept.map((it) => `${path.posix.basename(Uri.parse(it.uri).path)} stays as it is: ${it.reason}`);
  return [`${counted(restored.length, "file")} restored`, ...left].join("; ");
}

/** A file that is not there yet is begun, and comes to be when the user saves it. */
async function openOrCreate(uri: Uri): Promise<void> {
  try {
    await workspace.fs.stat(uri);
    await window.showTextDocument(uri);
  } catch {
    const document = await workspace.openTextDocument(uri.with({ scheme: "untitled" }));
    const editor = await window.showTextDocument(document);
    if (!document.getText()) {
      await editor.edit((edit) => edit.insert(editor.selection.start, "{\n  \n}\n"));
    }
  }
}
