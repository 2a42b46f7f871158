// What users set from the palette: models, roles, approvals, extensions, trust, keys and settings.

import { homedir } from "node:os";
import * as path from "node:path";
import { ProgressLocation, type QuickPick, QuickPickItemKind, ThemeIcon, Uri, window, workspace } from "vscode";
import { approvalItems } from "./approvals";
import { inBackground } from "./background";
import type { Chat } from "./chat/chat";
import { contextReport, reportName } from "./context-report";
import type { ReadOnlyDocuments } from "./documents";
import { type ExtensionItem, extensionItems } from "./extensions";
import { typedKey } from "./key-input";
import { t, tn } from "./l10n";
import { chooseModel, type ModelRow } from "./model-picker";
import { accountItems, asConfigured, effortItems, modelItems } from "./models";
import type { Odin } from "./odin";
import type { CheckedKey, ModelState } from "./protocol";
import { roleItems } from "./roles";
import { type Keys, PROVIDERS, type Provider } from "./secrets";
import { SETTINGS_FILE, userFile } from "./settings";
import { askForText, chooseFrom, chosenFrom, during, itemOf, picker, tellUser } from "./telling";

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
    const chosen = await chooseModel(odin, (now) => this.modelRows(now));
    await chosen?.row.run?.();
    const model = chosen?.row.model && (await this.withEffort(chosen.now, chosen.row.model));
    if (model !== undefined) {
      await odin.execute("odin.model", { model });
    }
  }

  async selectRole(): Promise<void> {
    const { odin } = this.parts;
    const items = roleItems(await odin.execute("odin.role", {}));
    const chosen = await chooseFrom(items, { title: t("Select Role"), matchOnDetail: true });
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
      inBackground(tellUser("info", t("Odin: There are no saved approvals.")));
      return;
    }
    const chosen = await chooseFrom(approvalItems(allowed), {
      title: t("Manage Approvals"),
      placeHolder: t("Select approvals to remove; Odin then asks you again"),
      canPickMany: true,
    });
    for (const { id } of chosen ?? []) {
      await odin.execute("odin.permissions", { ...session, action: "remove", id });
    }
    if (chosen?.length) {
      inBackground(tellUser("info", tn(chosen.length, "Odin: Removed {0} approval.", "Odin: Removed {0} approvals.")));
    }
  }

  /** What is plugged in; what is chosen is switched on or off until Odin ends, or its file is opened. */
  async showExtensions(): Promise<void> {
    const { odin } = this.parts;
    const { extensions } = await odin.execute("odin.extensions", {});
    if (extensions.length === 0) {
      inBackground(tellUser("info", t("Odin: There are no skills, commands, agents, hooks or MCP servers.")));
      return;
    }
    const chosen = await this.pickExtension(extensionItems(extensions));
    if (chosen?.action) {
      await odin.execute("odin.extensions", { action: chosen.action, name: chosen.name });
      inBackground(
        tellUser(
          "info",
          chosen.action === "enable" ? t("Odin: {0} is on.", chosen.label) : t("Odin: {0} is off.", chosen.label),
        ),
      );
    } else if (chosen) {
      await window.showTextDocument(Uri.file(chosen.source));
    }
  }

  /** The list follows the servers in it while it is open. */
  private async pickExtension(items: ExtensionItem[]): Promise<ExtensionItem | undefined> {
    const { odin } = this.parts;
    const list = picker<ExtensionItem>(
      t("Extensions"),
      t("Select one to switch it off or on until Odin stops, or to open a file that is not used"),
    );
    Object.assign(list, { items: items.map(itemOf), matchOnDescription: true, matchOnDetail: true });
    const following = odin.onEvent(({ event }) => {
      if (event.kind === "serversChanged") inBackground(this.refresh(list));
    });
    try {
      return await chosenFrom(list);
    } finally {
      following.dispose();
      list.dispose();
    }
  }

  private async refresh(list: QuickPick<ExtensionItem>): Promise<void> {
    const { extensions } = await this.parts.odin.execute("odin.extensions", {});
    const active = list.activeItems[0]?.name;
    const items = extensionItems(extensions).map(itemOf);
    list.items = items;
    list.activeItems = items.filter((it) => it.name === active);
  }

  async decideTrust(decision: "ask" | "restrict"): Promise<void> {
    const { trusted } = await this.parts.odin.execute("odin.trust", { decision });
    inBackground(
      tellUser(
        "info",
        trusted
          ? t("Odin trusts this version of what the workspace brings.")
          : t("Odin does not trust what this workspace brings. It can only tighten limits and rules."),
      ),
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
      inBackground(tellUser("info", t("Odin: The key is saved, but could not be checked: {0}.", typed.checked.detail)));
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
      inBackground(tellUser("info", t("Odin: VS Code keeps no API keys for Odin.")));
      return;
    }
    const provider = await pickProvider(kept, t("Remove API Key"));
    if (provider) {
      await this.parts.keys.remove(provider);
    }
  }

  /** `exact`: the provider counts it. */
  async showContext(exact = false): Promise<void> {
    const { odin } = this.parts;
    const preview = exact
      ? await during(
          { location: ProgressLocation.Notification, title: t("Odin: The provider counts the tokens…") },
          () => odin.execute("odin.context", { exact }),
        )
      : await odin.execute("odin.context", {});
    await this.parts.documents.show(reportName(), contextReport(preview), "markdown");
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
    const chosen = await chooseFrom(places, { title: t("Open Settings File"), placeHolder: SETTINGS_FILE });
    if (chosen) {
      await openOrCreate(Uri.file(chosen.file));
    }
  }

  /** What comes later comes last, so that nothing moves. */
  private modelRows(now: ModelState): ModelRow[] {
    const warning = { iconPath: new ThemeIcon("warning") };
    return [
      ...modelItems(now),
      { label: "", kind: QuickPickItemKind.Separator },
      ...(now.picked ? [{ ...asConfigured(), iconPath: new ThemeIcon("gear") }] : []),
      { label: t("Other…"), iconPath: new ThemeIcon("edit"), run: () => this.nameModel(now.model) },
      { label: t("Set API Key…"), iconPath: new ThemeIcon("key"), run: () => this.setKey() },
      { label: t("In your accounts"), kind: QuickPickItemKind.Separator },
      ...accountItems(now).map((it) => (it.model ? it : { ...it, ...warning, run: () => this.setKey(it.provider) })),
    ];
  }

  private async withEffort(now: ModelState, model: string): Promise<string | undefined> {
    const items = effortItems(now, model);
    const isAsked = items.length > 1;
    const chosen = isAsked ? await chooseFrom(items, { title: t("Select Effort"), placeHolder: model }) : items[0];
    return chosen?.model;
  }

  private async nameModel(value: string): Promise<void> {
    const model = await askForText({ title: t("Select Model"), prompt: "provider/model[@effort]", value });
    if (model?.trim()) {
      await this.parts.odin.execute("odin.model", { model: model.trim() });
    }
  }
}

async function pickProvider(providers: readonly Provider[], title: string): Promise<Provider | undefined> {
  const items = providers.map((provider) => ({ label: PROVIDERS[provider], provider }));
  return (await chooseFrom(items, { title, placeHolder: t("Provider") }))?.provider;
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
