import { expect, test } from "vitest";
import { accountItems, effortItems, modelItems } from "../src/models";
import type { ModelState } from "../src/protocol";

const SONNET = "anthropic/claude-sonnet-5-5";
const STATE: ModelState = {
  model: SONNET,
  smallModel: "anthropic/claude-haiku-5-5",
  running: SONNET,
  available: [SONNET, "offline/odin"],
  efforts: { [SONNET]: ["low", "medium", "high"] },
};

test("each model is offered once, and the selected one is marked with its effort", () => {
  const marked = (model: string): (string | undefined)[][] =>
    modelItems({ ...STATE, model }).map((it) => [it.model, it.description]);
  expect(marked(SONNET)).toEqual([
    [SONNET, "selected"],
    ["offline/odin", ""],
  ]);
  expect(marked(`${SONNET}@low`)).toEqual([
    [SONNET, "selected, low effort"],
    ["offline/odin", ""],
  ]);
  expect(marked("openai/my@model@low")).toEqual([
    ["openai/my@model@low", "selected"],
    [SONNET, ""],
    ["offline/odin", ""],
  ]);
});

test("the efforts of a model are the next step, where it takes any", () => {
  expect(effortItems({ ...STATE, model: `${SONNET}@high` }, SONNET)).toEqual([
    { label: "Default", model: SONNET, description: "" },
    { label: "Low", model: `${SONNET}@low`, description: "" },
    { label: "Medium", model: `${SONNET}@medium`, description: "" },
    { label: "High", model: `${SONNET}@high`, description: "selected" },
  ]);
  expect(effortItems(STATE, "offline/odin")).toEqual([{ label: "Default", model: "offline/odin", description: "" }]);
});

test("a model is told with its window, its price and its efforts, as far as they are known", () => {
  const facts = { [SONNET]: { context: 1_000_000, inputUsd: 3, outputUsd: 15 } };
  expect(modelItems({ ...STATE, facts }).map((it) => it.detail)).toEqual([
    "1M tokens · $3 in, $15 out per million tokens · effort low, medium, high",
    "",
  ]);
});

test("models of servers on this computer come last, and say where they are", () => {
  const local = [{ name: "Ollama", url: "http://127.0.0.1:11434", models: ["ollama/qwen3"] }];
  expect(
    modelItems({ ...STATE, local, model: "ollama/qwen3" }).map((it) => [it.model, it.description, it.detail]),
  ).toEqual([
    [SONNET, "", "effort low, medium, high"],
    ["offline/odin", "", ""],
    ["ollama/qwen3", "selected", "Ollama on this computer"],
  ]);
});

test("what accounts have besides is listed apart, and says whose it is", () => {
  const models = [
    { ref: SONNET, title: "Claude Sonnet", context: 1_000_000 },
    { ref: "anthropic/claude-new-1", title: "Claude New", context: 200_000 },
    { ref: "anthropic/bare" },
  ];
  const accounts = [{ provider: "anthropic", title: "Anthropic", models }];
  expect(modelItems({ ...STATE, accounts }).map((it) => it.model)).toEqual([SONNET, "offline/odin"]);
  const listed = (state: ModelState): unknown[] => accountItems(state).map((it) => [it.model, it.detail]);
  expect(listed({ ...STATE, accounts })).toEqual([
    ["anthropic/claude-new-1", "Claude New · 200K tokens · in your account at Anthropic"],
    ["anthropic/bare", "in your account at Anthropic"],
  ]);
  expect(listed({ ...STATE, accounts, model: "anthropic/bare" })).toHaveLength(1);
});

test("an account that cannot be asked is one line that says what to do", () => {
  const accounts = [
    { provider: "anthropic", title: "Anthropic", problem: "bad key; check the key" },
    { provider: "google", title: "Google", models: [] },
  ];
  expect(accountItems({ ...STATE, accounts })).toEqual([
    {
      label: "Anthropic lists no models",
      detail: "bad key; check the key",
      alwaysShow: true,
      provider: "anthropic",
    },
  ]);
});
