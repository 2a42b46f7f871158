// What goes wrong where nobody waits for it.

import { afterEach, beforeEach, expect, test } from "vitest";
import { inBackground, tellFailures } from "../src/background";
import { Emitter } from "../src/emitter";
import { settled } from "./chat-fakes";

const told: unknown[] = [];

beforeEach(() => tellFailures((error) => told.push(error)));
afterEach(() => {
  told.length = 0;
});

test("a failure that nobody waits for is told", async () => {
  inBackground(Promise.reject(new Error("no room")));
  await settled();
  expect(told).toEqual([new Error("no room")]);
});

test("a listener that throws silences no other", () => {
  const emitter = new Emitter<string>();
  const heard: string[] = [];
  emitter.event(() => {
    throw new Error("broken");
  });
  emitter.event((it) => heard.push(it));
  emitter.fire("news");
  expect(heard).toEqual(["news"]);
  expect(told).toEqual([new Error("broken")]);
});
