// What would be sent to the model, as a document to read.

import type { ContextPreview, LineSpan, SeenFile } from "./protocol";
import { ago } from "./words";

export function contextReport(preview: ContextPreview): string {
  const share = preview.contextLimit > 0 ? ` of ${preview.contextLimit.toLocaleString("en")}` : "";
  const head = [
    "# What would be sent",
    "",
    `Model: ${preview.model}  `,
    `Tokens: ${preview.tokens.toLocaleString("en")}${share}  `,
    `Cost of the request: ${dollars(preview.costUsd)}, or ${dollars(preview.cachedCostUsd)} if the provider has it cached  `,
    `Spent by the session: ${dollars(preview.spent.costUsd ?? 0)}`,
  ];
  const files = (preview.files ?? []).map(seenFile);
  const seen = files.length > 0 ? [`## Files that the model has seen\n\n${files.join("\n")}`] : [];
  const instructions = (preview.instructions ?? []).map(
    ({ path, of, tokens }) => `- ${path} (${of}, ${tokens.toLocaleString("en")} tokens)`,
  );
  if (instructions.length > 0) head.push("", "Instructions, in the order in which they apply:", "", ...instructions);
  const parts = preview.parts.map((part) => {
    const fence = "`".repeat(Math.max(3, longestRun(part.content) + 1));
    const heading = `## ${part.kind}: ${part.name} (${part.tokens.toLocaleString("en")} tokens)`;
    return `${heading}\n\n${fence}\n${part.content}\n${fence}`;
  });
  return `${[head.join("\n"), ...seen, ...parts].join("\n\n")}\n`;
}

function seenFile({ path, at, seen, isWhole, isCurrent, changed = [] }: SeenFile): string {
  const state = changed.length > 0 ? `changed since: ${spans(changed)}` : isCurrent ? "unchanged" : "moved since";
  return `- ${path}: ${isWhole ? "all lines" : spans(seen)}, seen ${ago(at)}, ${state}`;
}

function spans(lines: readonly LineSpan[]): string {
  return `lines ${lines.map(({ first, last }) => (first === last ? first : `${first}–${last}`)).join(", ")}`;
}

function longestRun(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
}

function dollars(amount: number): string {
  return `$${amount.toFixed(4)}`;
}
