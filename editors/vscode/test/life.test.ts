import { expect, test } from "vitest";
import type { ServerState } from "../src/odin";
import type { EventRecord } from "../src/protocol";
import { type Launch, type Running, ServerLife, ServerProblem } from "../src/server/life";

const INFO = { version: 1, server: "0", model: "offline/odin", smallModel: "offline/odin", modes: [], tools: [] };

interface Fake extends Running {
  die(why: string): Promise<void>;
  emit(record: EventRecord): void;
  stopped: boolean;
  settings: object[];
}

function server(onEvent: (record: EventRecord) => void): Fake {
  let end: (why: string) => void = () => {};
  const ended = new Promise<string>((resolve) => {
    end = resolve;
  });
  const fake: Fake = {
    info: INFO,
    ended,
    stopped: false,
    execute: async (command) => command,
    settings: [],
    configure: (settings) => fake.settings.push(settings),
    stop: async () => {
      fake.stopped = true;
    },
    emit: onEvent,
    die: async (why) => {
      end(why);
      await settled();
    },
  };
  return fake;
}

/** A life with its servers, its states in words, and a clock that is moved by hand. */
function scene(launches: (() => Error | undefined)[] = []) {
  const servers: Fake[] = [];
  const states: string[] = [];
  const waits: { seconds: number; pass(): Promise<void> }[] = [];
  let time = 0;
  const launch: Launch = async (onEvent) => {
    const problem = launches.shift()?.();
    if (problem) {
      throw problem;
    }
    const fake = server(onEvent);
    servers.push(fake);
    return fake;
  };
  const life = new ServerLife(launch, {
    now: () => time,
    wait: (seconds) =>
      new Promise((resolve) => {
        waits.push({
          seconds,
          pass: async () => {
            time += seconds;
            resolve();
            await settled();
          },
        });
      }),
  });
  life.onDidChangeState((state) => states.push(state.kind));
  return { life, servers, states, waits, advance: (seconds: number) => (time += seconds) };
}

async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

function why(state: ServerState): string {
  return "why" in state && state.why ? state.why : "";
}

test("the server starts with the first command, once for all that wait", async () => {
  const { life, servers, states } = scene();
  expect(life.state.kind).toBe("stopped");
  const answers = await Promise.all([life.execute("odin.state", {}), life.execute("odin.model", {})]);
  expect(answers).toEqual(["odin.state", "odin.model"]);
  expect(servers).toHaveLength(1);
  expect(states).toEqual(["starting", "ready"]);
});

test("a start that fails is told with its reason, and tried again by the next command only", async () => {
  const { life, states, servers } = scene([() => new ServerProblem("it is not installed")]);
  await expect(life.execute("odin.state", {})).rejects.toThrow("it is not installed");
  expect(life.state).toMatchObject({ kind: "failed", why: "it is not installed" });
  life.wake();
  await settled();
  expect(states).toEqual(["starting", "failed"]);
  await life.execute("odin.state", {});
  expect(servers).toHaveLength(1);
});

test("a server that dies is started again after 1, 2, 4 and 8 seconds, then given up with its last words", async () => {
  const { life, servers, waits } = scene();
  await life.start();
  for (let index = 0; index < 4; index += 1) {
    await servers[index]?.die(`death ${index}`);
    expect(life.state.kind).toBe("starting");
    expect(why(life.state)).toContain(`death ${index}`);
    await waits[index]?.pass();
    expect(life.state.kind).toBe("ready");
  }
  await servers[4]?.die("the disk is full");
  expect(waits.map((it) => it.seconds)).toEqual([1, 2, 4, 8]);
  expect(life.state).toMatchObject({ kind: "failed", why: expect.stringContaining("the disk is full") });
});

test("a command given while it is on its way back waits for it", async () => {
  const { life, servers, waits } = scene();
  await life.start();
  await servers[0]?.die("gone");
  const answer = life.execute("odin.state", {});
  await waits[0]?.pass();
  expect(await answer).toBe("odin.state");
});

test("a server that cannot be started again counts as another death", async () => {
  const fail = (): Error => new ServerProblem("no memory");
  const { life, servers, waits } = scene([() => undefined, fail, fail, fail, fail]);
  await life.start();
  await servers[0]?.die("gone");
  for (let index = 0; index < 4; index += 1) {
    await waits[index]?.pass();
  }
  expect(life.state).toMatchObject({ kind: "failed", why: expect.stringContaining("no memory") });
});

test("a server that has lived for long begins a new count", async () => {
  const { life, servers, waits, advance } = scene();
  await life.start();
  await servers[0]?.die("once");
  await waits[0]?.pass();
  advance(3600);
  await servers[1]?.die("again");
  expect(waits.map((it) => it.seconds)).toEqual([1, 1]);
});

test("a restart ends the one that runs, which then is no death", async () => {
  const { life, servers, states, waits } = scene();
  await life.start();
  await life.restart();
  await servers[0]?.die("it was stopped");
  expect(servers[0]?.stopped).toBe(true);
  expect(life.state.kind).toBe("ready");
  expect(states).toEqual(["starting", "ready", "stopped", "starting", "ready"]);
  expect(waits).toEqual([]);
});

test("a restart in a crash loop does not wait, and what waited comes to nothing", async () => {
  const { life, servers, waits } = scene();
  await life.start();
  await servers[0]?.die("gone");
  await life.restart();
  expect(servers).toHaveLength(2);
  await waits[0]?.pass();
  expect(servers).toHaveLength(2);
  expect(life.state.kind).toBe("ready");
});

test("events of a server that was replaced are not told", async () => {
  const { life, servers } = scene();
  const seen: number[] = [];
  life.onEvent((record) => seen.push(record.seq));
  const record = (seq: number): EventRecord => ({
    seq,
    turnId: "t",
    sessionId: "s",
    agentId: "main",
    event: { kind: "streamRolledBack" },
  });
  await life.start();
  servers[0]?.emit(record(1));
  await life.restart();
  servers[0]?.emit(record(2));
  servers[1]?.emit(record(1));
  expect(seen).toEqual([1, 1]);
});

test("a setting that changes while the server starts is told when it has started", async () => {
  const { life, servers } = scene();
  const started = life.start();
  life.configure({ model: "early" });
  await started;
  life.configure({ model: "late" });
  expect(servers[0]?.settings).toEqual([{ model: "early" }, { model: "late" }]);
});
