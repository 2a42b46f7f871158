import { expect, test } from "vitest";
import { approvalItems } from "../src/approvals";
import { roleItems } from "../src/roles";

test("an approval says what it allows, where, in which mode and since when", () => {
  const allowed = { id: "a1", tool: "ExecuteCommand", pattern: "git push", mode: "edit_mode", since: "2026-11-16" };
  const scopes = ["session", "workspace", "always"] as const;
  const items = approvalItems(scopes.map((scope) => ({ ...allowed, scope })));
  expect(items[0]).toMatchObject({ id: "a1", label: "git push", detail: "ExecuteCommand, since 2026-11-16" });
  expect(items.map((it) => it.description)).toEqual([
    "in this session, in Edit",
    "in this workspace, in Edit",
    "everywhere, in Edit",
  ]);
});

test("roles come in the server's order, with what they are for and their models", () => {
  const roles = [
    { name: "builder", description: "does the work", models: [] },
    { name: "auditor", description: "", models: ["a/one", "b/two"] },
  ];
  expect(roleItems({ role: "auditor", roles })).toEqual([
    { role: "builder", label: "builder", description: "", detail: "does the work" },
    { role: "auditor", label: "auditor", description: "selected", detail: "a/one, b/two" },
  ]);
});
