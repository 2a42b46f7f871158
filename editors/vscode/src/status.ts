// The status bar: which model, in which role and mode, what it does, what the session has cost, and what waits for the user.

import type { StatusBarItem } from "vscode";
import type { Mode } from "./odin";
import type { ActivityChanged } from "./protocol";
import { isUnset } from "./server/life";
import type { Standing } from "./session/selectors";
import { counted } from "./words";

/** The role of those who have chosen none. */
const BUILDER = "builder";
export const MODE_NAMES: Readonly<Record<Mode, string>> = { ask_mode: "Ask", plan_mode: "Plan", edit_mode: "Edit" };

const ACTIVITIES: Readonly<Record<ActivityChanged["activity"], string>> = {
  idle: "",
  connecting: "connecting",
  waiting_headers: "waiting for the model",
  waiting_token: "waiting for the model",
  streaming: "writing",
  executing: "working",
  compacting: "compacting the session",
  retrying: "trying again",
  retrying_key: "trying another key",
  cooling: "waiting for the provider",
  verifying: "checking",
};

export interface StatusText {
  text: string;
  /** Plain text: models and sessions have names that others gave. */
  tooltip: string;
  label: string;
  background: "error" | "warning" | undefined;
}

export function shownFor(standing: Standing): StatusText {
  const { server } = standing;
  switch (server.kind) {
    case "stopped":
      return plain("$(circle-outline) Odin", "Odin has not been started");
    case "starting":
      return server.why
        ? { ...plain("$(sync~spin) Odin", `Odin is started again. ${server.why}`), background: "warning" }
        : plain("$(loading~spin) Odin", "Odin is starting");
    case "failed":
      if (isUnset(server)) return plain("$(circle-outline) Odin: Set Up", "Odin is not set up yet. Select to begin.");
      return { ...plain("$(error) Odin", `Odin does not run. ${server.why}`), background: "error" };
    case "ready":
      return standing.questions + standing.reviews > 0 ? waiting(standing) : working(standing);
  }
}

function waiting(standing: Standing): StatusText {
  const { questions, position } = standing;
  const asked = questions > 0 && counted(questions, "question");
  const text = asked || position || "changes to review";
  const words = asked || (position ? `change ${position}` : "changes to review");
  return {
    ...plain(`$(bell-dot) Odin: ${text}`, `Odin waits for you: ${words}. ${details(standing)}`),
    background: "warning",
  };
}

function working(standing: Standing): StatusText {
  const { running, activity } = standing;
  const model = standing.model.split("/").at(-1) ?? "";
  const parts = [model, roleOf(standing), running ? MODE_NAMES[running.mode] : "", cost(standing.costUsd)].filter(
    Boolean,
  );
  if (!running) {
    const icon = standing.isTrusted ? "$(eye)" : "$(shield)";
    return plain(`${icon} ${parts.join(" · ")}`, `Odin is ready. ${details(standing)}`);
  }
  const doing = ACTIVITIES[activity];
  const text = `$(loading~spin) ${[...parts, doing].filter(Boolean).join(" · ")}`;
  return plain(text, `Odin is at work${doing ? `: ${doing}` : ""}. ${details(standing)}`);
}

function details(standing: Standing): string {
  const restricted = standing.isTrusted ? "" : " The workspace is not trusted, so only Ask works.";
  const role = roleOf(standing) ? ` Role: ${standing.role}.` : "";
  const mode = standing.running ? ` Mode: ${MODE_NAMES[standing.running.mode]}.` : "";
  const spent = standing.costUsd > 0 ? ` This session: ${cost(standing.costUsd)}.` : "";
  return `Model: ${standing.model}.${role}${mode}${spent}${restricted}`;
}

/** The usual one goes without saying. */
function roleOf({ role }: Standing): string {
  return role === BUILDER ? "" : role;
}

function plain(text: string, tooltip: string): StatusText {
  return { text, tooltip, label: tooltip, background: undefined };
}

function cost(dollarsSpent: number): string {
  if (dollarsSpent <= 0) {
    return "";
  }
  return dollarsSpent < 0.01 ? "<$0.01" : `$${dollarsSpent.toFixed(2)}`;
}

export function show(
  item: StatusBarItem,
  shown: StatusText,
  background: (kind: "error" | "warning") => StatusBarItem["backgroundColor"],
): void {
  item.text = shown.text;
  item.tooltip = shown.tooltip;
  item.accessibilityInformation = { label: shown.label, role: "button" };
  item.backgroundColor = shown.background && background(shown.background);
  item.show();
}
