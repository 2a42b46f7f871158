// A server that says what a test wants it to say, and events as the real one told them.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { CancellationToken } from "vscode";
import { Emitter } from "../src/emitter";
import type { CommandName, Odin, ServerState } from "../src/odin";
import type { Commands, Event, EventPage, EventRecord, ServerInfo } from "../src/protocol";

const INFO: ServerInfo = { version: 1, server: "1", model: "offline/odin", smallModel: "", modes: [], tools: [] };
export const READY: ServerState = { kind: "ready", info: INFO };

type Asked = { command: CommandName; argument: Record<string, unknown> };
type Reply = (argument: Record<string, unknown>) => unknown;

const DEFAULTS: Partial<Record<CommandName, Reply>> = {
  "odin.role": () => ({ role: "builder", roles: [] }),
  "odin.review.list": () => ({ proposals: [] }),
  "odin.session.events": () => ({ events: [], earlierTurns: 0, seq: 0 }),
  "odin.state": () => ({ executing: false, suspended: false, compacting: false, queue: [], unbegun: [], usage: {} }),
};

export class FakeOdin implements Odin {
  state: ServerState = READY;
  readonly states = new Emitter<ServerState>();
  readonly events = new Emitter<EventRecord>();
  readonly onDidChangeState = this.states.event;
  readonly onEvent = this.events.event;
  readonly asked: Asked[] = [];
  replies: Partial<Record<CommandName, Reply>> = {};

  async execute<Name extends CommandName>(
    command: Name,
    argument: Commands[Name]["argument"],
  ): Promise<Commands[Name]["result"]> {
    const given = argument as Record<string, unknown>;
    this.asked.push({ command, argument: given });
    const reply = this.replies[command] ?? DEFAULTS[command];
    return (await reply?.(given)) as Commands[Name]["result"];
  }

  async restart(): Promise<void> {}

  change(state: ServerState): void {
    this.state = state;
    this.states.fire(state);
  }

  tell(turnId: string, event: Event, sessionId = "s1", agentId = "main", seq = 0): void {
    this.events.fire({ seq, turnId, sessionId, agentId, event });
  }

  of(command: CommandName): Record<string, unknown>[] {
    return this.asked.filter((it) => it.command === command).map((it) => it.argument);
  }
}

export class FakeStore {
  #values = new Map<string, string>();

  get<T>(key: string): T | undefined {
    const value = this.#values.get(key);
    return value === undefined ? undefined : (JSON.parse(value) as T);
  }

  async update(key: string, value: unknown): Promise<void> {
    this.#values.set(key, JSON.stringify(value));
  }
}

/** What was told while a session went on. */
export function recorded(name: string): EventRecord[] {
  const lines = recording(`${name}.jsonl`).trim().split("\n");
  return lines.map((line) => JSON.parse(line) as EventRecord);
}

/** What was kept of it. */
export function recordedPage(name: string): EventPage {
  return JSON.parse(recording(`${name}.json`)) as EventPage;
}

function recording(name: string): string {
  return readFileSync(join(import.meta.dirname, "recorded", name), "utf8");
}

export function cancellation(): { token: CancellationToken; cancel(): void } {
  const cancelled = new Emitter<unknown>();
  const token = { isCancellationRequested: false, onCancellationRequested: cancelled.event };
  return { token, cancel: () => cancelled.fire(undefined) };
}

/** What has been promised has happened. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
