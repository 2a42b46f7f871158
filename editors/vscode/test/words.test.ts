import { expect, test } from "vitest";
import type { TextDocument } from "vscode";
import { contextReport } from "../src/context-report";
import { isPlan } from "../src/plans";
import { ago } from "../src/words";

test("times are told as people say them", () => {
  const now = 10_000_000;
  const told = [30, 60, 7200, 86_400 * 3, 86_400 * 15, 86_400 * 60, 86_400 * 800].map((it) => ago(now - it, now));
  expect(told).toEqual([
    "just now",
    "1 minute ago",
    "2 hours ago",
    "3 days ago",
    "2 weeks ago",
    "2 months ago",
    "2 years ago",
  ]);
});

test("what would be sent is shown as it is, whatever is in it", () => {
  const hostile = "```\n# not a heading\n````";
  const report = contextReport({
    sessionId: "s",
    mode: "ask_mode",
    model: "anthropic/opus",
    tokens: 12_345,
    contextLimit: 200_000,
    costUsd: 0.0123,
    cachedCostUsd: 0.0012,
    switchedCostUsd: 0.0098,
    spent: {},
    parts: [{ kind: "message", name: "user", tokens: 9, content: hostile }],
    files: [
      { path: "/a.py", at: 0, seen: [{ first: 1, last: 9, digest: "d" }], isWhole: true, isCurrent: true },
      {
        path: "/b.py",
        at: 0,
        seen: [{ first: 2, last: 5, digest: "d" }],
        isWhole: false,
        isCurrent: false,
        changed: [
          { first: 2, last: 3 },
          { first: 5, last: 5 },
        ],
      },
    ],
    instructions: [{ path: "/home/me/ODIN.md", of: "user", tokens: 1_200 }],
  });
  expect(report).toMatch(/- \/a\.py: all lines, seen .* ago, unchanged\n/);
  expect(report).toMatch(/- \/b\.py: lines 2–5, seen .* ago, changed since: lines 2–3, 5\n/);
  expect(report).toContain("Tokens: 12,345 of 200,000");
  expect(report).toContain("After a switch between Edit and another mode: $0.0098");
  expect(report).toContain("- /home/me/ODIN.md (user, 1,200 tokens)\n");
  expect(report).toContain(`\`\`\`\`\`\n${hostile}\n\`\`\`\`\``);
});

test("the provider's own count stands beside the estimate, or why there is none", () => {
  const spent = { costUsd: 0, cachedCostUsd: 0, switchedCostUsd: 0, spent: {}, parts: [] };
  const preview = {
    sessionId: "s",
    mode: "ask_mode",
    model: "a/b",
    tokens: 12_345,
    contextLimit: 0,
    ...spent,
  } as const;
  const why = "the provider of a/b does not count tokens";
  expect(contextReport(preview)).not.toContain("counted");
  expect(contextReport({ ...preview, counted: 4_711 })).toMatch(
    /Tokens: 12,345 +\nTokens, counted by the provider: 4,711/,
  );
  expect(contextReport({ ...preview, notCounted: why })).toContain(`counted by the provider: none (${why})`);
});

test("a plan is known by its first line", () => {
  const document = (first: string, scheme = "file"): TextDocument =>
    ({ uri: { scheme }, lineCount: 1, lineAt: () => ({ text: first }) }) as unknown as TextDocument;
  expect(isPlan(document("<!-- A plan for Odin. Its steps are the lines that begin with a box; -->"))).toBe(true);
  expect(isPlan(document("# A plan"))).toBe(false);
  expect(isPlan(document("<!-- A plan for Odin. -->", "git"))).toBe(false);
});
