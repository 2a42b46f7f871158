import { expect, test } from "vitest";
import { extensionItems } from "../src/extensions";

const base = { source: "/p/.claude/x", owner: "project", tokens: 0, description: "" } as const;

test("what is plugged in is listed with its state, and what can be switched can be switched", () => {
  const items = extensionItems([
    { ...base, kind: "skill", name: "deploy", state: "on", tokens: 20, description: "ship it" },
    { ...base, kind: "hook", name: "Stop: ./x", state: "off" },
    { ...base, kind: "file", name: "mcp", state: "broken", problem: "line 2: it is no JSON" },
    { ...base, kind: "agent", name: "reader", state: "untrusted" },
    { ...base, kind: "mcp", name: "git", state: "on", running: "failed", problem: "git has stopped with code 1" },
    { ...base, kind: "mcp", name: "docs", state: "on", running: "retrying", attempt: 2, maxAttempts: 4 },
  ]);
  expect(items.map((it) => [it.label, it.description, it.action])).toEqual([
    ["skill deploy", "on, 20 tokens", "disable"],
    ["hook Stop: ./x", "off", "enable"],
    ["file mcp", "broken", undefined],
    ["agent reader", "not used: you have not agreed to it", undefined],
    ["mcp git", "on, failed", "disable"],
    ["mcp docs", "on, retrying, attempt 2 of 4", "disable"],
  ]);
  expect(items[0]?.detail).toBe("ship it · /p/.claude/x");
  expect(items[2]?.detail).toBe("line 2: it is no JSON · /p/.claude/x");
});
