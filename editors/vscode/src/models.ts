// Which models can be selected, how hard each can be told to think, and the way back to the settings.

import type { QuickPickItem } from "vscode";
import type { ModelState } from "./protocol";

export interface ModelItem extends QuickPickItem {
  /** What `odin.model` is told; empty: as in the settings. */
  model: string;
}

export const AS_CONFIGURED: ModelItem = { label: "As in the Settings", model: "" };

/** One item for each model, however it is used now. */
export function modelItems(now: ModelState): ModelItem[] {
  const selected = now.available.find((model) => effortItems(now, model).some((it) => it.model === now.model));
  const models = selected ? now.available : [now.model, ...now.available];
  return models.map((model) => ({
    label: model,
    model,
    description: model === (selected ?? now.model) ? selectedWith(now.model.slice(model.length + 1)) : "",
  }));
}

/** What is asked next: the model alone, then with each effort that it takes. */
export function effortItems(now: ModelState, model: string): ModelItem[] {
  const efforts = now.efforts?.[model] ?? [];
  const items = [
    { label: "Default", model },
    ...efforts.map((effort) => ({ label: capitalized(effort), model: `${model}@${effort}` })),
  ];
  return items.map((it) => ({ ...it, description: it.model === now.model ? "selected" : "" }));
}

function selectedWith(effort: string): string {
  return effort ? `selected, ${effort} effort` : "selected";
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
