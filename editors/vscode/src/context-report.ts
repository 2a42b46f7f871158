// What would be sent to the model, as a document to read.

import type { ContextPreview } from "./protocol";

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
  const parts = preview.parts.map((part) => {
    const fence = "`".repeat(Math.max(3, longestRun(part.content) + 1));
    const heading = `## ${part.kind}: ${part.name} (${part.tokens.toLocaleString("en")} tokens)`;
    return `${heading}\n\n${fence}\n${part.content}\n${fence}`;
  });
  return `${[head.join("\n"), ...parts].join("\n\n")}\n`;
}

function longestRun(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
}

function dollars(amount: number): string {
  return `$${amount.toFixed(4)}`;
}
