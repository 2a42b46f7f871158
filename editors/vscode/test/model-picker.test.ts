import { beforeEach, expect, it, vi } from "vitest";

interface Row {
  label: string;
  isSelected?: boolean;
}

const { list, fake } = vi.hoisted(() => {
  const heard: Record<string, () => void> = {};
  const list = {
    items: [] as Row[],
    activeItems: [] as Row[],
    selectedItems: [] as Row[],
    busy: false,
    isShown: false,
    press: (what: string) => heard[what]?.(),
    onDidAccept: (run: () => void) => Object.assign(heard, { accept: run }),
    onDidHide: (run: () => void) => Object.assign(heard, { hide: run }),
    onDidTriggerButton: (run: () => void) => Object.assign(heard, { again: run }),
    show: () => Object.assign(list, { isShown: true }),
    dispose: () => {},
  };
  return { list, fake: { window: { createQuickPick: () => list }, ThemeIcon: class {} } };
});
vi.mock("vscode", () => fake);

import { chooseModel } from "../src/model-picker";
import { accountItems, modelItems } from "../src/models";
import type { ModelState } from "../src/protocol";
import { FakeOdin } from "./chat-fakes";

const KNOWN: ModelState = { model: "a/one", smallModel: "a/one", running: "a/one", available: ["a/one", "a/two"] };
const LOCAL = [{ name: "Ollama", url: "http://127.0.0.1:11434", models: ["ollama/qwen3"] }];
const rowsOf = (now: ModelState) => [...modelItems(now), ...accountItems(now)];
const labels = (): string[] => list.items.map((it) => it.label);

beforeEach(() => {
  Object.assign(list, { items: [], activeItems: [], selectedItems: [], busy: false, isShown: false });
});

function answering(): { odin: FakeOdin; answer(name: string, more: Partial<ModelState>): void } {
  const odin = new FakeOdin();
  const waiting = new Map<string, (state: ModelState) => void>();
  odin.replies["odin.model"] = ({ findLocal, askAccounts }) =>
    findLocal || askAccounts
      ? new Promise((resolve) => waiting.set(findLocal ? "local" : String(askAccounts), resolve))
      : KNOWN;
  return { odin, answer: (name, more) => waiting.get(name)?.({ ...KNOWN, ...more }) };
}

function has(...refs: string[]): Partial<ModelState> {
  return { accounts: [{ provider: "a", title: "A", models: refs.map((ref) => ({ ref })) }] };
}

it("shows at once what is known, and then what servers and accounts say", async () => {
  const { odin, answer } = answering();
  const chosen = chooseModel(odin, rowsOf);
  await vi.waitFor(() => expect(list.isShown).toBe(true));
  expect([labels(), list.busy, list.activeItems[0]?.label]).toEqual([["a/one", "a/two"], true, "a/one"]);

  list.activeItems = list.items.slice(1, 2);
  answer("local", { local: LOCAL });
  await vi.waitFor(() => expect(labels()).toEqual(["a/one", "a/two", "ollama/qwen3"]));
  expect([list.busy, list.activeItems[0]?.label]).toEqual([true, "a/two"]);

  answer("wait", has("a/three"));
  await vi.waitFor(() => expect(list.busy).toBe(false));
  expect(labels()).toEqual(["a/one", "a/two", "ollama/qwen3", "a/three"]);

  list.selectedItems = list.items.slice(3, 4);
  list.press("accept");
  expect((await chosen)?.row.label).toBe("a/three");
});

it("asks accounts again when the user wants it", async () => {
  const { odin, answer } = answering();
  const chosen = chooseModel(odin, rowsOf);
  await vi.waitFor(() => expect(list.isShown).toBe(true));
  answer("local", {});
  answer("wait", has("a/three"));
  await vi.waitFor(() => expect(list.busy).toBe(false));

  list.press("again");
  expect(list.busy).toBe(true);
  answer("anew", has("a/four"));
  await vi.waitFor(() => expect(labels()).toEqual(["a/one", "a/two", "a/four"]));

  list.press("hide");
  expect(await chosen).toBeUndefined();
});
