// What users set from the palette: models, roles, approvals, extensions, trust, keys and settings.

import { homedir } from "node:os";
import * as path from "node:path";
import { type QuickPickItem, QuickPickItemKind, ThemeIcon, Uri, window, workspace } from "vscode";
import { approvalItems } from "./approvals";
import type { Chat } from "./chat/chat";
import { contextReport } from "./context-report";
import type { ReadOnlyDocuments } from "./documents";
import { extensionItems } from "./extensions";
import { typedKey } from "./key-input";
import { AS_CONFIGURED, effortItems, modelItems, SELECTED } from "./models";
import type { Odin } from "./odin";
import type { CheckedKey, ModelState } from "./protocol";
import { roleItems } from "./roles";
import { type Keys, PROVIDERS, type Provider } from "./secrets";
import { SETTINGS_FILE, userFile } from "./settings";
import { counted } from "./words";

interface Parts {
  odin: Odin;
  chat: Chat;
  keys: Keys;
  documents: ReadOnlyDocuments;
}

export class SettingCommands {
  constructor(private readonly parts: Parts) {}

  async selectModel(): Promise<void> {
    const { odin } = this.parts;
    const now = await odin.execute("odin.model", { findLocal: true });
    const items: (QuickPickItem & { model?: string; run?: () => unknown })[] = [
      ...modelItems(now),
      { label: "", kind: QuickPickItemKind.Separator },
      ...(now.picked ? [{ ...AS_CONFIGURED, iconPath: new ThemeIcon("gear") }] : []),
      { label: "Other…", iconPath: new ThemeIcon("edit"), run: () => this.nameModel(now.model) },
      { label: "Set API Key…", iconPath: new ThemeIcon("key"), run: () => this.setKey() },
    ];
    const current = items.find((it) => it.description?.startsWith(SELECTED));
    const chosen = await pickFrom(items, current, "Select Model", "From the next turn on");
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
    const { sessionId } = chat.store.shown.state.head;
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
    if (!provider) {
      return;
    }
    const box = window.createInputBox();
    box.title = `API Key of ${PROVIDERS[provider]}`;
    box.prompt = "It is kept in VS Code's own safe, and is in no settings and no log.";
    box.password = true;
    box.ignoreFocusOut = true;
    const typed = await typedKey(box, (key) => this.checkKey(provider, key));
    if (typed) {
      await this.parts.keys.set(provider, typed.key);
    }
    if (typed?.checked.detail) {
      window.showInformationMessage(`Odin: the key is kept, but could not be checked: ${typed.checked.detail}.`);
    }
  }

  /** Without a server that could ask, nobody knows. */
  private async checkKey(provider: Provider, key: string): Promise<CheckedKey> {
    const { odin, keys } = this.parts;
    keys.hide(key);
    return odin.state.kind === "ready" ? odin.execute("odin.key.check", { provider, key }) : { verdict: "unknown" };
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

/** Choose one; the list begins at the one that counts now. */
async function pickFrom<Item extends QuickPickItem>(
  items: readonly Item[],
  current: Item | undefined,
  title: string,
  placeholder: string,
): Promise<Item | undefined> {
  const picker = window.createQuickPick<Item>();
  Object.assign(picker, { title, placeholder, items, activeItems: current ? [current] : [] });
  try {
    return await new Promise((resolve) => {
      picker.onDidAccept(() => resolve(picker.selectedItems[0]));
      picker.onDidHide(() => resolve(undefined));
      picker.show();
    });
  } finally {
    picker.dispose();
  }
}

async function pickProvider(providers: readonly Provider[], title: string): Promise<Provider | undefined> {
  const items = providers.map((provider) => ({ label: PROVIDERS[provider], provider }));
  return (await window.showQuickPick(items, { title, placeHolder: "Provider" }))?.provider;
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
