// Which models can be selected, how hard each can be told to think, and the way back to the settings.

import type { QuickPickItem } from "vscode";
import { t } from "./l10n";
import type { AccountModel, ModelState } from "./protocol";
import { short } from "./words";

export interface ModelItem extends QuickPickItem {
  /** What `odin.model` is told; empty: as in the settings. */
  model: string;
  isSelected?: boolean;
}

/** Back to the model of the settings. */
export function asConfigured(): ModelItem {
  return { label: t("Use Model from Settings"), model: "" };
}

/** One item for each model that Odin knows, however it is used now. Those of servers on this computer come last. */
export function modelItems(now: ModelState): ModelItem[] {
  const local = (now.local ?? []).flatMap(({ name, models }) => models.map((model) => ({ model, name })));
  const known = [...now.available, ...local.map((it) => it.model)];
  const selected = known.find((model) => effortItems(now, model).some((it) => it.model === now.model));
  const models = selected ? known : [now.model, ...known];
  return models.map((model) => {
    const server = local.find((it) => it.model === model);
    const isSelected = model === (selected ?? now.model);
    return {
      label: model,
      model,
      isSelected,
      description: isSelected ? selectedWith(now.model.slice(model.length + 1)) : "",
      detail: server ? t("{0} on this computer", server.name) : factsOf(now, model),
    };
  });
}

/** What accounts have besides, and one item for each that cannot be asked: why, and what to do. */
export function accountItems(now: ModelState): (QuickPickItem & { model?: string; provider: string })[] {
  const shown = new Set(modelItems(now).map((it) => it.model));
  return (now.accounts ?? []).flatMap(({ provider, title, models = [], problem }) => [
    ...models
      .filter((it) => !shown.has(it.ref))
      .map((it) => ({ label: it.ref, model: it.ref, detail: factsOfAccount(it, title), provider })),
    ...(problem ? [{ label: t("{0} lists no models", title), detail: problem, alwaysShow: true, provider }] : []),
  ]);
}

/** What is asked next: the model alone, then with each effort that it takes. */
export function effortItems(now: ModelState, model: string): ModelItem[] {
  const efforts = now.efforts?.[model] ?? [];
  const items = [
    { label: t("Default"), model },
    ...efforts.map((effort) => ({ label: capitalized(effort), model: `${model}@${effort}` })),
  ];
  return items.map((it) => ({ ...it, description: it.model === now.model ? t("selected") : "" }));
}

/** Its window and its price, as far as they are known, and how hard it can be told to think. */
function factsOf({ facts = {}, efforts = {} }: ModelState, model: string): string {
  const { context, inputUsd, outputUsd } = facts[model] ?? {};
  const known = efforts[model] ?? [];
  return [
    context ? t("{0} tokens", short(context)) : "",
    inputUsd !== undefined && outputUsd !== undefined
      ? t("{0} in, {1} out per million tokens", `$${inputUsd}`, `$${outputUsd}`)
      : "",
    known.length > 0 ? t("effort {0}", known.join(", ")) : "",
  ]
    .filter(Boolean)
    .join(" · ");
}

function factsOfAccount({ title, context }: AccountModel, account: string): string {
  const known = [title ?? "", context ? t("{0} tokens", short(context)) : "", t("in your account at {0}", account)];
  return known.filter(Boolean).join(" · ");
}

function selectedWith(effort: string): string {
  return effort ? t("selected, {0} effort", effort) : t("selected");
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
