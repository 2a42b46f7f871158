import { expect, test } from "vitest";
import type { SecretStorage } from "vscode";
import { Keys, keyProblem } from "../src/secrets";

function storage(): SecretStorage {
  const kept = new Map<string, string>();
  return {
    get: async (name: string) => kept.get(name),
    store: async (name: string, value: string) => void kept.set(name, value),
    delete: async (name: string) => void kept.delete(name),
    keys: async () => [...kept.keys()],
    onDidChange: () => ({ dispose: () => {} }),
  } as SecretStorage;
}

test("keys are kept in the secret storage and handed out by provider", async () => {
  const keys = new Keys(storage());
  await keys.set("anthropic", "sk-a");
  await keys.set("google", "g");
  await keys.remove("google");
  expect(await keys.all()).toEqual({ anthropic: "sk-a" });
});

test("what was a key once stays hidden", async () => {
  const keys = new Keys(storage());
  await keys.set("openai", "old");
  await keys.set("openai", "new");
  await keys.remove("openai");
  expect(keys.known).toEqual(["old", "new"]);
});

test("a key that was copied badly is refused in words", () => {
  expect(keyProblem("  ")).toBe("Enter an API key.");
  expect(keyProblem("sk-abc def")).toContain("no spaces");
  expect(keyProblem(" sk-abc_DEF-123 ")).toBeUndefined();
});
