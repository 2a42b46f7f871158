// What would be sent to the model, as a document to read.

import { numberOf, t, tn } from "./l10n";
import type { ContextPreview, LineSpan, SeenFile } from "./protocol";
import { ago, moneyOf } from "./words";

export function reportName(): string {
  return `${t("What Would Be Sent")}.md`;
}

export function contextReport(preview: ContextPreview): string {
  const { tokens, contextLimit } = preview;
  const lines = [
    t("Model: {0}", preview.model),
    contextLimit > 0
      ? t("Tokens: {0} of {1}", numberOf(tokens), numberOf(contextLimit))
      : t("Tokens: {0}", numberOf(tokens)),
    ...countOf(preview),
    t(
      "Cost of the request: {0}, or {1} if the provider has it cached",
      dollars(preview.costUsd),
      dollars(preview.cachedCostUsd),
    ),
    t("After a switch between Edit and another mode: {0}", dollars(preview.switchedCostUsd)),
    t("Spent by the session: {0}", dollars(preview.spent.costUsd ?? 0)),
  ];
  const head = [`# ${t("What would be sent")}`, "", lines.join("  \n")];
  const files = (preview.files ?? []).map(seenFile);
  const seen = files.length > 0 ? [`## ${t("Files that the model has seen")}\n\n${files.join("\n")}`] : [];
  const instructions = (preview.instructions ?? []).map((it) => `- ${it.path} (${it.of}, ${tokensOf(it.tokens)})`);
  if (instructions.length > 0) head.push("", t("Instructions, in the order in which they apply:"), "", ...instructions);
  const parts = preview.parts.map((part) => {
    const fence = "`".repeat(Math.max(3, longestRun(part.content) + 1));
    const heading = `## ${part.kind}: ${part.name} (${tokensOf(part.tokens)})`;
    return `${heading}\n\n${fence}\n${part.content}\n${fence}`;
  });
  return `${[head.join("\n"), ...seen, ...parts].join("\n\n")}\n`;
}

/** What the provider has counted, or why it has not; nothing if nobody asked. */
function countOf({ counted, notCounted }: ContextPreview): string[] {
  if (counted !== undefined) return [t("Tokens, counted by the provider: {0}", numberOf(counted))];
  return notCounted ? [t("Tokens, counted by the provider: none ({0})", notCounted)] : [];
}

function seenFile({ path, at, seen, isWhole, isCurrent, changed = [] }: SeenFile): string {
  const lines = isWhole ? t("all lines") : t("lines {0}", spans(seen));
  const since = isCurrent ? t("unchanged") : t("moved since");
  const state = changed.length > 0 ? t("changed since: lines {0}", spans(changed)) : since;
  return `- ${path}: ${t("{0}, seen {1}, {2}", lines, ago(at), state)}`;
}

function tokensOf(count: number): string {
  return tn(count, "{0} token", "{0} tokens");
}

function spans(lines: readonly LineSpan[]): string {
  return lines.map(({ first, last }) => (first === last ? first : `${first}–${last}`)).join(", ");
}

function longestRun(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
}

function dollars(amount: number): string {
  return moneyOf(amount) || "$0";
}
