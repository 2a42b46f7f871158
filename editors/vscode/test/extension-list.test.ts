// The list of extensions, open while a server becomes another than it was.

import { expect, it, vi } from "vitest";
import type { QuickPickItem } from "vscode";

const { list } = vi.hoisted(() => ({
  list: {
    items: [] as QuickPickItem[],
    activeItems: [] as QuickPickItem[],
    selectedItems: [] as QuickPickItem[],
    isGone: false,
    hide: () => {},
    onDidAccept: () => {},
    onDidHide(run: () => void) {
      this.hide = run;
    },
    show: () => {},
    dispose() {
      this.isGone = true;
    },
  },
}));
vi.mock("vscode", () => ({
  window: { createQuickPick: () => list },
  QuickPickItemKind: { Separator: -1 },
  ThemeIcon: class {},
  workspace: {},
}));

import type { Chat } from "../src/chat/chat";
import type { ReadOnlyDocuments } from "../src/documents";
import type { Listed } from "../src/protocol";
import type { Keys } from "../src/secrets";
import { SettingCommands } from "../src/setting-commands";
import { FakeOdin } from "./chat-fakes";

function server(name: string, running: Listed["running"]): Listed {
  return { kind: "mcp", name, source: "/p/.mcp.json", owner: "project", state: "on", running } as Listed;
}

it("shows how servers are now, with the same one selected, and asks only when it is told to", async () => {
  const odin = new FakeOdin();
  let extensions = [server("git", "starting"), server("docs", "ready")];
  const asked = vi.fn(() => ({ extensions }));
  odin.replies["odin.extensions"] = asked;
  const parts = { odin, chat: {} as Chat, documents: {} as ReadOnlyDocuments, keys: {} as Keys };
  const shown = new SettingCommands(parts).showExtensions();
  await vi.waitFor(() => expect(list.items.map((it) => it.description)).toEqual(["on, starting", "on, ready"]));
  list.activeItems = list.items.slice(1);

  odin.tell("", { kind: "notice", level: "info", message: "x" });
  extensions = [server("git", "ready"), server("docs", "ready")];
  odin.tell("", { kind: "serversChanged" });

  await vi.waitFor(() => expect(list.items.map((it) => it.description)).toEqual(["on, ready", "on, ready"]));
  expect(list.activeItems.map((it) => it.label)).toEqual(["mcp docs"]);
  expect(asked).toHaveBeenCalledTimes(2);
  list.hide();
  await shown;
  odin.tell("", { kind: "serversChanged" });
  expect(asked).toHaveBeenCalledTimes(2);
  expect(list.isGone).toBe(true);
});
