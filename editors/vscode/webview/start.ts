// What the chat shows before anything was said: how to begin, and what is still missing for it.

import type { FromPage, LocalModel } from "../src/chat/messages";
import { t } from "../src/l10n";
import type { Mode } from "../src/odin";
import type { WindowState } from "../src/session/state";
import { button, h, icon } from "./dom";

const INSTALL = "odin.vscode.install";

export interface Recent {
  id: string;
  title: string;
  when: string;
}

export interface Offered {
  recent: readonly Recent[];
  /** Models of servers on this computer. */
  local: readonly LocalModel[];
}

interface StartActions {
  post(message: FromPage): void;
  write(text: string, mode: Mode): void;
}

/** The server is not there yet, and the card says how to get it. */
export function isUnset({ trouble }: WindowState): boolean {
  return trouble?.actions.some((it) => it.command === INSTALL) ?? false;
}

/** There is a server, and no language model. */
export function isOffline({ server, model }: WindowState): boolean {
  return server === "ready" && model.startsWith("offline/");
}

export function startOf(window: WindowState, offered: Offered, actions: StartActions): HTMLElement[] {
  if (isUnset(window)) return [installOf(window, actions)];
  if (window.isRestoring) return [waiting(t("Restoring the last session…"))];
  if (window.server === "starting" || window.server === "stopped") return [waiting(t("Starting Odin…"))];
  if (window.server === "failed") return [];
  const examples = examplesOf().map(({ mode, text }) => {
    const write = { type: "button", class: "example", on: { click: () => actions.write(text, mode) } };
    return h("li", {}, h("button", write, text));
  });
  const promise = t("Odin reads your open files, including unsaved changes, and changes nothing without your review.");
  return [
    h("h2", { text: t("What do you want to do?") }),
    h("p", { class: "muted", text: promise }),
    ...(isOffline(window) ? [modelOf(offered.local, actions)] : []),
    h("ul", { class: "examples" }, ...examples),
    ...recentOf(offered.recent, actions),
  ];
}

function examplesOf(): { mode: Mode; text: string }[] {
  return [
    { mode: "ask_mode", text: t("Explain how this file works") },
    { mode: "plan_mode", text: t("Plan tests for this file") },
    { mode: "edit_mode", text: t("Fix the problems in this file") },
  ];
}

function waiting(words: string): HTMLElement {
  return h("p", { class: "waiting muted", role: "status" }, icon("loading", "codicon-modifier-spin"), words);
}

/** One thing to do, and where it leads. */
function card(step: number, words: string, ...actions: HTMLElement[]): HTMLElement {
  const steps = [t("Install the server"), t("Select a model"), t("Ask")].map((it, index) => {
    const sign = icon(index < step ? "pass-filled" : "circle-large");
    const done = index < step && h("span", { class: "visually-hidden", text: ` (${t("done")})` });
    return h(
      "li",
      { class: index === step ? "current" : "", "aria-current": index === step && "step" },
      sign,
      it,
      done,
    );
  });
  return h(
    "section",
    { class: "card", "aria-label": t("Set up Odin") },
    h("h2", { text: t("Set up Odin") }),
    h("ol", { class: "steps" }, ...steps),
    h("p", { text: words }),
    h("div", { class: "actions" }, ...actions),
  );
}

function installOf({ trouble }: WindowState, { post }: StartActions): HTMLElement {
  const actions = (trouble?.actions ?? []).map(({ title, command }) =>
    button(title, () => post({ type: "run", command }), command === INSTALL ? "primary" : "secondary"),
  );
  return card(0, t("Odin runs in a small server on this computer, installed for your user only."), ...actions);
}

function modelOf([local]: readonly LocalModel[], { post }: StartActions): HTMLElement {
  const words = t(
    "No API key is set, so Odin answers by searching your code. To use a language model, add a key for Anthropic, Google or OpenAI.",
  );
  const found = local && t("{0} runs on this computer.", local.name);
  const set = () => post({ type: "run", command: "odin.vscode.setKey" });
  const select = () => post({ type: "run", command: "odin.vscode.selectModel" });
  const use =
    local && button(t("Use {0}", nameOf(local)), () => post({ type: "useModel", model: local.model }), "primary");
  return card(
    1,
    [words, found].filter(Boolean).join(" "),
    ...(use ? [use] : []),
    button(t("Set API Key…"), set, use ? "secondary" : "primary"),
    button(t("Select Model…"), select),
  );
}

function nameOf({ model }: LocalModel): string {
  return model.slice(model.indexOf("/") + 1);
}

function recentOf(recent: readonly Recent[], { post }: StartActions): HTMLElement[] {
  if (recent.length === 0) return [];
  const rows = recent.map(({ id, title, when }) => {
    const open = () => post({ type: "openSession", sessionId: id });
    const row = { type: "button", class: "example", title: title, on: { click: open } };
    const parts = [h("span", { text: title }), h("span", { class: "when", text: when })];
    return h("li", {}, h("button", row, ...parts));
  });
  return [h("h3", { text: t("Recent") }), h("ul", { class: "examples" }, ...rows)];
}
