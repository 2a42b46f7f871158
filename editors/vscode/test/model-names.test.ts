import { expect, it, vi } from "vitest";

const { fake, registered } = vi.hoisted(() => {
  class CompletionItem {
    constructor(readonly label: string) {}
  }
  class CompletionList {
    constructor(
      readonly items: CompletionItem[],
      readonly isIncomplete: boolean,
    ) {}
  }
  class Range {
    readonly at: number[];
    constructor(...at: number[]) {
      this.at = at;
    }
  }
  const registered: { provider?: { provideCompletionItems: (...given: unknown[]) => Promise<unknown> } } = {};
  const registerCompletionItemProvider = (_: unknown, provider: never) => Object.assign(registered, { provider });
  const languages = { registerCompletionItemProvider };
  return {
    fake: { CompletionItem, CompletionList, CompletionItemKind: { Value: 11 }, Range, languages },
    registered,
  };
});
vi.mock("vscode", () => fake);

import { completeModels, typedModel } from "../src/model-names";
import { FakeOdin } from "./chat-fakes";

it.each([
  ['  "odin.model": "anth', "anth"],
  ['"odin.smallModel":"', ""],
  ['"odin.subagentModel" : "a/b@', "a/b@"],
  ['"odin.fallbackModels": ["a/b", "an', "an"],
  ['"odin.model": ', undefined],
  ['"odin.model": "a/b", ', undefined],
  ['"odin.mode": "anth', undefined],
  ['"other.model": "anth', undefined],
])("knows what is typed of a model in %s", (before, typed) => {
  expect(typedModel(before)).toBe(typed);
});

it("offers what the account has, and not again what VS Code offers by itself", async () => {
  const odin = new FakeOdin();
  const accounts = [{ provider: "a", title: "A", models: [{ ref: "a/one" }, { ref: "a/new", title: "New" }] }];
  const state = { model: "a/one", smallModel: "a/one", running: "a/one", available: ["a/one", "offline/odin"] };
  odin.replies["odin.model"] = () => ({ ...state, accounts });
  const group = { properties: { "odin.model": { examples: ["a/one"] } } };
  completeModels(odin, { contributes: { configuration: [group] } });

  const line = '  "odin.model": "a/';
  const document = { lineAt: () => ({ text: `${line}" // the model` }) };
  const found = await registered.provider?.provideCompletionItems(document, { line: 3, character: line.length });
  expect(found).toEqual({
    isIncomplete: true,
    items: [
      { label: "offline/odin", detail: "", range: { at: [3, 17, 3, 19] } },
      { label: "a/new", detail: "New", range: { at: [3, 17, 3, 19] } },
    ],
  });
  expect(odin.of("odin.model")).toEqual([{ askAccounts: "beside" }]);

  odin.state = { kind: "stopped" };
  expect(await registered.provider?.provideCompletionItems(document, { line: 3, character: line.length })).toBe(
    undefined,
  );
});
