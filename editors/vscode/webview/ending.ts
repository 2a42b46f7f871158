// How a turn has ended, and what can be done about it.

import type { FromPage } from "../src/chat/messages";
import { t } from "../src/l10n";
import type { Problem } from "../src/protocol";
import type { TurnHead } from "../src/session/state";
import { moneyOf, secondsOf, short } from "../src/words";
import { button, fileName, h, icon, setText } from "./dom";
import { leftOf } from "./problems";

function reasonName(reason: NonNullable<TurnHead["reason"]>): string {
  return {
    end_turn: "",
    max_turns: t("Stopped: the step limit is reached"),
    max_budget: t("Stopped: the budget is spent"),
    max_tokens: t("Stopped: the answer is too long"),
    refused: t("The model refused"),
    loop: t("Stopped: the model repeated itself"),
    interrupted: t("Canceled"),
    aborted: t("Interrupted"),
    failed: t("Failed"),
  }[reason];
}

/** Failures of one provider. */
const OTHER_MODEL_HELPS: ReadonlySet<Problem["kind"]> = new Set(["limited", "unavailable", "model"]);

type Post = (message: FromPage) => void;

interface EndingActions {
  post: Post;
  openFile(path: string): void;
}

export function endingOf(head: TurnHead, { post, openFile }: EndingActions): HTMLElement[] {
  if (head.status === "suspended") {
    return [h("p", { class: "muted" }, icon("debug-pause"), t("Continues when you have decided on all changes"))];
  }
  const left = head.left?.length && !head.undone ? [leftOf(head.left, openFile)] : [];
  const parts = [...problemOf(head), ...left, ...undoneOf(head), ...planOf(head)];
  const actions = actionsOf(head, post);
  if (actions.length > 0) parts.push(h("div", { class: "actions" }, ...actions));
  parts.push(h("p", { class: "figures", ...figuresOf(head) }));
  return parts;
}

function problemOf(head: TurnHead): HTMLElement[] {
  const problem = reasonName(head.reason ?? "end_turn");
  if (!problem) return [];
  const words = head.detail ? `${problem}: ${head.detail}` : problem;
  const isBad = head.status === "lost" || head.reason === "failed";
  return [h("p", { class: isBad ? "problem" : "muted" }, icon(isBad ? "warning" : "circle-slash"), words)];
}

function undoneOf({ undone }: TurnHead): HTMLElement[] {
  if (!undone) return [];
  const words = undone.restored.length > 0 ? t("Changes undone") : t("Nothing was undone");
  const kept = undone.kept.map(({ uri, reason }) =>
    h("li", { title: uri }, t("{0} was not undone: {1}", fileName(uri), reason)),
  );
  const parts: HTMLElement[] = [h("p", { class: "muted" }, icon("discard"), words)];
  return kept.length > 0 ? [...parts, h("ul", { class: "files" }, ...kept)] : parts;
}

/** By its title, which is the name of its document. */
function planOf({ plan }: TurnHead): HTMLElement[] {
  const title = plan && fileName(plan).replace(/\.plan\.md$/, "");
  return title ? [h("p", { class: "plan" }, icon("checklist"), title)] : [];
}

function actionsOf(head: TurnHead, post: Post): HTMLElement[] {
  const actions: HTMLElement[] = [];
  if (head.plan) {
    actions.push(
      button(t("Run Plan"), () => post({ type: "runPlan", turnId: head.id }), "primary"),
      button(t("Open Plan"), () => post({ type: "openPlan", turnId: head.id })),
    );
  }
  if (head.changed.length > 0 && !head.undone?.restored.length) {
    actions.push(button(t("Undo Changes"), () => post({ type: "undo", turnId: head.id })));
  }
  if (head.undone?.undoId) {
    actions.push(button(t("Bring Back Changes"), () => post({ type: "bringBack", turnId: head.id })));
  }
  const isKeyWrong = head.problem?.kind === "key";
  if (isKeyWrong) {
    const provider = head.problem?.provider;
    const set = () => post({ type: "run", command: "odin.vscode.setKey", provider });
    actions.push(button(t("Set API Key…"), set, "primary"));
  }
  if (head.reason && head.reason !== "end_turn") {
    const goOn = goOnWith(head, post, isKeyWrong);
    goOn.classList.add("only-last");
    actions.push(goOn);
  }
  if (head.problem && OTHER_MODEL_HELPS.has(head.problem.kind)) {
    actions.push(button(t("Other Model…"), () => post({ type: "run", command: "odin.vscode.selectModel" })));
  }
  return actions;
}

/** What the server has not taken is said again; else the turn is taken up where it was. */
function goOnWith(head: TurnHead, post: Post, isSecond: boolean): HTMLElement {
  const type = head.number === undefined ? "retry" : "continue";
  const run = () => post({ type, turnId: head.id });
  if (head.reason !== "failed")
    return button(t("Continue"), run, head.reason === "interrupted" ? "secondary" : "primary");
  const element = button(t("Try Again"), run, isSecond ? "secondary" : "primary");
  const count = () => {
    const left = Math.ceil((head.retryAt ?? 0) - Date.now() / 1000);
    setText(element, left > 0 ? t("Try Again in {0} s", left) : t("Try Again"));
    if (left > 0) setTimeout(() => element.isConnected && count(), 1000);
  };
  count();
  return element;
}

function figuresOf({ usage = {}, durationMs, model }: TurnHead): { text: string; title: string } {
  const { inputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0, outputTokens = 0 } = usage;
  const tokens = inputTokens + cacheReadTokens + cacheWriteTokens;
  const seconds = durationMs ? secondsOf(durationMs) : "";
  const text = [model?.slice(model.lastIndexOf("/") + 1), seconds, moneyOf(usage.costUsd)].filter(Boolean).join(" · ");
  return { text, title: tokens > 0 ? t("{0} tokens in, {1} out", short(tokens), short(outputTokens)) : "" };
}
