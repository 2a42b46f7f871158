// What has gone with a message besides its words, folded.

import { t } from "../src/l10n";
import type { SentContext } from "../src/protocol";
import { linesOf } from "../src/words";
import { SIGNS } from "./attachments";
import { fileName, h, icon } from "./dom";
import { keepFold, type LogActions } from "./items";

export function sentOf(turnId: string, context: readonly SentContext[], actions: LogActions): HTMLElement {
  const rows = context.map((it) => h("li", {}, icon(signOf(it)), nameOf(it, actions)));
  const [first = "", ...others] = context.map(labelOf);
  const words = others.length > 0 ? t("{0} and {1} more", first, others.length) : first;
  const label = h("span", { class: "sent-label", text: words });
  const summary = h(
    "summary",
    { title: t("Sent with the message") },
    icon("attach"),
    label,
    icon("chevron-right", "fold-sign"),
  );
  const element = h("details", { class: "sent fold has-more" }, summary, h("ul", {}, ...rows));
  keepFold(element, `${turnId}/sent`, actions);
  return element;
}

/** What it was, in words: `lines 3–9 of app.py`. */
export function labelOf({ kind, uri = "", name, firstLine, lastLine }: SentContext): string {
  const file = fileName(uri.replace(/\/$/, ""));
  switch (kind) {
    case "selection":
      if (name) return t("{0} in {1}", name, file);
      return firstLine === undefined ? file : linesOf(firstLine, lastLine ?? firstLine, file);
    case "folder":
      return `${file}/`;
    case "diagnostics":
      return t("problems in {0}", file);
    case "command":
      return name ? t("output of {0}", name) : t("output of a command");
    default:
      return file || t("text");
  }
}

function nameOf(sent: SentContext, { openFile }: LogActions): HTMLElement {
  const { kind, uri = "", firstLine, lastLine } = sent;
  const label = labelOf(sent);
  if (kind === "folder" || !uri.startsWith("file://")) return h("span", { text: label, title: uri });
  const lines = firstLine === undefined ? "" : `#L${firstLine}-L${lastLine ?? firstLine}`;
  const open = () => openFile(new URL(uri).pathname + lines);
  return h("button", { type: "button", class: "link", text: label, title: uri, on: { click: open } });
}

function signOf({ kind, name }: SentContext): string {
  if (kind === "diagnostics") return SIGNS.problems;
  if (kind === "command") return "terminal";
  if (kind === "selection") return name ? SIGNS.symbol : SIGNS.selection;
  return kind === "text" ? "note" : SIGNS[kind];
}
