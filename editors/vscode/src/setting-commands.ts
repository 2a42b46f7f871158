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
import { t, tn } from "./l10n";
import { asConfigured, effortItems, type ModelItem, modelItems } from "./models";
import type { Odin } from "./odin";
import type { CheckedKey, ModelState } from "./protocol";
import { roleItems } from "./roles";
import { type Keys, PROVIDERS, type Provider } from "./secrets";
import { SETTINGS_FILE, userFile } from "./settings";

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
    const items: (QuickPickItem & Partial<ModelItem> & { run?: () => unknown })[] = [
      ...modelItems(now),
      { label: "", kind: QuickPickItemKind.Separator },
      ...(now.picked ? [{ ...asConfigured(), iconPath: new ThemeIcon("gear") }] : []),
      { label: t("Other…"), iconPath: new ThemeIcon("edit"), run: () => this.nameModel(now.model) },
      { label: t("Set API Key…"), iconPath: new ThemeIcon("key"), run: () => this.setKey() },
    ];
    const current = items.find((it) => it.isSelected);
    const chosen = await pickFrom(items, current, t("Select Model"), t("Applies from the next turn"));
    await chosen?.run?.();
    const model = chosen?.model && (await this.withEffort(now, chosen.model));
    if (model !== undefined) {
      await odin.execute("odin.model", { model });
    }
  }

  async selectRole(): Promise<void> {
    const { odin } = this.parts;
    const items = roleItems(await odin.execute("odin.role", {}));
    const chosen = await window.showQuickPick(items, { title: t("Select Role"), matchOnDetail: true });
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
      window.showInformationMessage(t("Odin: There are no saved approvals."));
      return;
    }
    const chosen = await window.showQuickPick(approvalItems(allowed), {
      title: t("Manage Approvals"),
      placeHolder: t("Select approvals to remove; Odin then asks you again"),
      canPickMany: true,
    });
    for (const { id } of chosen ?? []) {
      await odin.execute("odin.permissions", { ...session, action: "remove", id });
    }
    if (chosen?.length) {
      window.showInformationMessage(tn(chosen.length, "Odin: Removed {0} approval.", "Odin: Removed {0} approvals."));
    }
  }

  /** What is plugged in; what is chosen is switched on or off until Odin ends, or its file is opened. */
  async showExtensions(): Promise<void> {
    const { odin } = this.parts;
    const { extensions } = await odin.execute("odin.extensions", {});
    if (extensions.length === 0) {
      window.showInformationMessage(t("Odin: There are no skills, commands, agents, hooks or MCP servers."));
      return;
    }
    const chosen = await window.showQuickPick(extensionItems(extensions), {
      title: t("Extensions"),
      placeHolder: t("Select one to switch it off or on until Odin stops, or to open a file that is not used"),
      matchOnDescription: true,
      matchOnDetail: true,
    });
    if (chosen?.action) {
      await odin.execute("odin.extensions", { action: chosen.action, name: chosen.name });
      window.showInformationMessage(
        chosen.action === "enable" ? t("Odin: {0} is on.", chosen.label) : t("Odin: {0} is off.", chosen.label),
      );
    } else if (chosen) {
      await window.showTextDocument(Uri.file(chosen.source));
    }
  }

  async decideTrust(decision: "trust" | "restrict"): Promise<void> {
    const { trusted } = await this.parts.odin.execute("odin.trust", { decision });
    window.showInformationMessage(
      trusted
        ? t("Odin trusts this version of the workspace's settings.")
        : t("Odin no longer trusts this workspace's settings. They can only tighten limits and rules."),
    );
  }

  /** Of the provider that needs one, if that is known. */
  async setKey(wanted?: unknown): Promise<void> {
    const providers = Object.keys(PROVIDERS) as Provider[];
    const provider = providers.find((it) => it === wanted) ?? (await pickProvider(providers, t("Set API Key")));
    if (!provider) {
      return;
    }
    const box = window.createInputBox();
    box.title = t("{0} API Key", PROVIDERS[provider]);
    box.prompt = t("VS Code keeps the key in its secret storage, never in settings or logs.");
    box.password = true;
    box.ignoreFocusOut = true;
    const typed = await typedKey(box, (key) => this.checkKey(provider, key));
    if (typed) {
      await this.parts.keys.set(provider, typed.key);
    }
    if (typed?.checked.detail) {
      window.showInformationMessage(t("Odin: The key is saved, but could not be checked: {0}.", typed.checked.detail));
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
      window.showInformationMessage(t("Odin: VS Code keeps no API keys for Odin."));
      return;
    }
    const provider = await pickProvider(kept, t("Remove API Key"));
    if (provider) {
      await this.parts.keys.remove(provider);
    }
  }

  async showContext(): Promise<void> {
    const preview = await this.parts.odin.execute("odin.context", {});
    await this.parts.documents.show(`${t("What Would Be Sent")}.md`, contextReport(preview), "markdown");
  }

  async openFile(): Promise<void> {
    const folders = (workspace.workspaceFolders ?? []).slice(0, 1); // the server reads that of the first
    const places = [
      {
        label: t("User"),
        description: t("for every workspace"),
        file: userFile(process.platform, process.env, homedir()),
      },
      ...folders.map((it) => ({
        label: t("Workspace"),
        description: it.name,
        file: path.join(it.uri.fsPath, SETTINGS_FILE),
      })),
    ];
    const chosen = await window.showQuickPick(places, { title: t("Open Settings File"), placeHolder: SETTINGS_FILE });
    if (chosen) {
      await openOrCreate(Uri.file(chosen.file));
    }
  }

  private async withEffort(now: ModelState, model: string): Promise<string | undefined> {
    const items = effortItems(now, model);
    const isAsked = items.length > 1;
    const chosen = isAsked
      ? await window.showQuickPick(items, { title: t("Select Effort"), placeHolder: model })
      : items[0];
    return chosen?.model;
  }

  private async nameModel(value: string): Promise<void> {
    const model = await window.showInputBox({ title: t("Select Model"), prompt: "provider/model[@effort]", value });
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
  return (await window.showQuickPick(items, { title, placeHolder: t("Provider") }))?.provider;
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
