import { expect, test } from "vitest";
import { effortItems, modelItems } from "../src/models";
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
