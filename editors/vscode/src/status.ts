// The status bar: which model, in which role and mode, what it does, what the session has cost, and what waits for the user.

import type { StatusBarItem } from "vscode";
import { readable, readableLine, withoutIcons } from "./chat/text";
import { t, tn } from "./l10n";
import { isUnset } from "./server/life";
import type { Standing } from "./session/selectors";
import { activityName, modeName, moneyOf } from "./words";

/** The role of those who have chosen none. */
const BUILDER = "builder";

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
      return plain("$(circle-outline) Odin", t("Odin is stopped."));
    case "starting":
      return server.why
        ? { ...plain("$(sync~spin) Odin", t("Odin is restarting. {0}", server.why)), background: "warning" }
        : plain("$(loading~spin) Odin", t("Odin is starting."));
    case "failed":
      if (isUnset(server))
        return plain(`$(circle-outline) ${t("Odin: Set Up")}`, t("Odin is not set up yet. Select to start."));
      return { ...plain("$(error) Odin", t("Odin is not running. {0}", server.why)), background: "error" };
    case "ready":
      return standing.questions + standing.reviews > 0 ? waiting(standing) : working(standing);
  }
}

function waiting(standing: Standing): StatusText {
  const { questions, position } = standing;
  const asked = questions > 0 && tn(questions, "{0} question", "{0} questions");
  const text = asked || position || t("changes to review");
  const words = asked || (position ? t("change {0}", position) : t("changes to review"));
  const tooltip = `${t("Odin needs your input: {0}.", words)} ${details(standing)}`;
  return {
    ...plain(`$(bell-dot) ${t("Odin: {0}", text)}`, tooltip),
    background: "warning",
  };
}

function working(standing: Standing): StatusText {
  const { running, activity } = standing;
  const model = withoutIcons(readableLine(standing.model.split("/").at(-1) ?? ""));
  const parts = [model, roleOf(standing), running ? modeName(running.mode) : "", moneyOf(standing.costUsd)].filter(
    Boolean,
  );
  if (!running) {
    const icon = standing.isTrusted ? "$(eye)" : "$(shield)";
    return plain(`${icon} ${parts.join(" · ")}`, `${t("Odin is ready.")} ${details(standing)}`);
  }
  const doing = activityName(activity);
  const text = `$(loading~spin) ${[...parts, doing].filter(Boolean).join(" · ")}`;
  return plain(text, [t("Odin is working."), doing && `${doing}.`, details(standing)].filter(Boolean).join(" "));
}

function details(standing: Standing): string {
  return [
    t("Model: {0}.", standing.model),
    roleOf(standing) && t("Role: {0}.", standing.role),
    standing.running && t("Mode: {0}.", modeName(standing.running.mode)),
    standing.costUsd > 0 && t("This session: {0}.", moneyOf(standing.costUsd)),
    !standing.isTrusted && t("The workspace is not trusted, so only Ask works."),
  ]
    .filter(Boolean)
    .join(" ");
}

/** The usual one goes without saying. */
function roleOf({ role }: Standing): string {
  return role === BUILDER ? "" : withoutIcons(readableLine(role));
}

function plain(text: string, tooltip: string): StatusText {
  return { text, tooltip, label: tooltip, background: undefined };
}

export function show(
  item: StatusBarItem,
  shown: StatusText,
  background: (kind: "error" | "warning") => StatusBarItem["backgroundColor"],
): void {
  item.text = shown.text;
  item.tooltip = readable(shown.tooltip);
  item.accessibilityInformation = { label: readableLine(shown.label), role: "button" };
  item.backgroundColor = shown.background && background(shown.background);
  item.show();
}
