import { expect, test, vi } from "vitest";
import { Emitter } from "../src/emitter";
import { typedKey } from "../src/key-input";
import type { CheckedKey } from "../src/protocol";

class Box {
  value = "";
  validationMessage: string | undefined;
  busy = false;
  enabled = true;
  readonly accepted = new Emitter<void>();
  readonly changed = new Emitter<string>();
  readonly hidden = new Emitter<void>();
  readonly onDidAccept = this.accepted.event;
  readonly onDidChangeValue = this.changed.event;
  readonly onDidHide = this.hidden.event;
  show = vi.fn();
  dispose = vi.fn();

  type(value: string): void {
    this.value = value;
    this.changed.fire(value);
    this.accepted.fire();
  }
}

test("a key that the provider refuses is told where it was typed, and the next one is taken", async () => {
  const box = new Box();
  const answers: CheckedKey[] = [{ verdict: "refused", detail: "Anthropic does not accept this key" }];
  const check = vi.fn(async () => answers.pop() ?? { verdict: "accepted" as const });
  const typed = typedKey(box, check);
  box.type("sk wrong");
  expect(box.validationMessage).toContain("no spaces");
  expect(check).not.toHaveBeenCalled();
  box.type(" sk-wrong ");
  expect([box.busy, box.enabled]).toEqual([true, false]);
  await vi.waitFor(() => expect(box.validationMessage).toBe("Anthropic does not accept this key"));
  expect([box.busy, box.enabled]).toEqual([false, true]);
  box.type("sk-right");
  expect(await typed).toEqual({ key: "sk-right", checked: { verdict: "accepted" } });
  expect(check.mock.calls).toEqual([["sk-wrong"], ["sk-right"]]);
  expect(box.dispose).toHaveBeenCalled();
});

test("a key that cannot be checked is kept all the same", async () => {
  const box = new Box();
  const typed = typedKey(box, () => Promise.reject(new Error("Odin does not run")));
  box.type("sk-a");
  expect(await typed).toEqual({ key: "sk-a", checked: { verdict: "unknown", detail: "Odin does not run" } });
});

test("whoever gives up has typed nothing", async () => {
  const box = new Box();
  const typed = typedKey(box, async () => ({ verdict: "accepted" }));
  box.hidden.fire();
  expect(await typed).toBeUndefined();
});
