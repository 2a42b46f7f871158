import { expect, test } from "vitest";
import { Emitter } from "../src/emitter";
import type { ServerState } from "../src/odin";
import type { EventRecord } from "../src/protocol";
import { Renewal } from "../src/server/renewal";

function scene(state: ServerState["kind"], { busy = false, mayInterrupt = false } = {}) {
  const events = new Emitter<EventRecord>();
  const it = { restarts: 0, asked: [] as string[], busy };
  const renewal = new Renewal({
    life: {
      state: { kind: state } as ServerState,
      onEvent: events.event,
      restart: async () => {
        it.restarts += 1;
      },
    },
    isBusy: () => it.busy,
    mayInterrupt: async (what) => {
      it.asked.push(what);
      return mayInterrupt;
    },
  });
  const finishTurn = (): void => events.fire({ event: { kind: "turnFinished" } } as EventRecord);
  return { it, renewal, finishTurn };
}

test("a server that does not run needs no restart", async () => {
  const { it, renewal } = scene("stopped");
  await renewal.because("The setting");
  expect(it.restarts).toBe(0);
});

test("one that failed is tried again: the change may be what it needed", async () => {
  const { it, renewal } = scene("failed");
  await renewal.because("The setting");
  expect(it.restarts).toBe(1);
});

test("in a turn the user is asked", async () => {
  const { it, renewal } = scene("ready", { busy: true, mayInterrupt: true });
  await renewal.because("The API key");
  expect(it).toMatchObject({ restarts: 1, asked: ["The API key"] });
});

test("who does not want to end the turn gets the restart after it, once", async () => {
  const { it, renewal, finishTurn } = scene("ready", { busy: true });
  await renewal.because("The API key");
  await renewal.because("The setting");
  finishTurn();
  expect(it.restarts).toBe(0); // another one was queued
  it.busy = false;
  finishTurn();
  finishTurn();
  expect(it.restarts).toBe(1);
});
