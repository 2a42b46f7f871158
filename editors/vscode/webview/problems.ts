// What language servers find wrong: what edits have introduced and fixed, and what a turn has left.

import { t, tn } from "../src/l10n";
import type { Diagnostic } from "../src/protocol";
import type { ProblemsItem } from "../src/session/state";
import { fileName, h, icon } from "./dom";

type OpenFile = (path: string) => void;

export function problemsOf({ introduced, fixed, found, remaining }: ProblemsItem, openFile: OpenFile): HTMLElement {
  const told = [
    introduced.length > 0 && t("{0} introduced", introduced.length),
    fixed.length > 0 && t("{0} fixed", fixed.length),
    found.length > 0 && t("{0} found", found.length),
    remaining > 0 && t("{0} remaining", remaining),
  ];
  const list = h("ul", {}, ...[...introduced, ...found].map((it) => lineOf(it, openFile)), ...fixed.map(fixedLineOf));
  const title = h("h3", { text: t("Problems: {0}", told.filter(Boolean).join(", ")) });
  return h("section", { class: "problems", "aria-label": t("Problems") }, title, list);
}

export function leftOf(left: readonly Diagnostic[], openFile: OpenFile): HTMLElement {
  const words = tn(left.length, "{0} new error left by this turn", "{0} new errors left by this turn");
  const title = h("p", { class: "problem" }, icon("error"), words);
  const list = h("ul", {}, ...left.map((it) => lineOf(it, openFile)));
  return h("section", { class: "problems", "aria-label": t("New errors") }, title, list);
}

function lineOf(it: Diagnostic, openFile: OpenFile): HTMLElement {
  const path = URL.canParse(it.uri) ? new URL(it.uri).pathname : it.uri;
  const open = () => openFile(`${path}:${it.line}`);
  const link = h("button", { type: "button", class: "link", on: { click: open } }, placeOf(it));
  const sign = icon(it.severity === "error" ? "error" : "warning");
  return h("li", { class: it.severity }, sign, link, h("span", { text: it.message }));
}

/** It is no longer where it was. */
function fixedLineOf(it: Diagnostic): HTMLElement {
  const words = h("span", { text: `${placeOf(it)} ${it.message}` });
  return h(
    "li",
    { class: "fixed" },
    icon("check"),
    words,
    h("span", { class: "visually-hidden", text: ` (${t("fixed")})` }),
  );
}

function placeOf({ uri, line }: Diagnostic): string {
  return `${fileName(uri)}:${line}`;
}
