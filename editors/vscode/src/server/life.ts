// The server's life: started when it is needed, started again when it dies, given up when it keeps dying.

import type { Event } from "vscode";
import { inBackground } from "../background";
import { Emitter } from "../emitter";
import { t } from "../l10n";
import type { CommandName, Odin, ServerState } from "../odin";
import type { Commands, EventRecord, ServerInfo } from "../protocol";
import { wordsOf } from "../words";

export type ServerAction = Extract<ServerState, { kind: "failed" }>["actions"][number];

export const RESTART = action(() => t("Restart"), "odin.vscode.restart");
export const SHOW_LOG = action(() => t("Show Log"), "odin.vscode.showLog");
export const DOCTOR = action(() => t("Run Doctor"), "odin.vscode.doctor");
export const CHOOSE = action(() => t("Choose…"), "odin.vscode.chooseServer");
export const INSTALL = action(() => t("Install"), "odin.vscode.install");

/** The language is not known yet when this is read. */
export function action(title: () => string, command: string): ServerAction {
  return {
    get title() {
      return title();
    },
    command,
  };
}

/** Whether all that is wrong is that nobody has installed the server yet. */
export function isUnset({ actions }: { actions: readonly ServerAction[] }): boolean {
  return actions.some((it) => it.command === INSTALL.command);
}

/** Why there is no server, in words for the user, with what may help. */
export class ServerProblem extends Error {
  constructor(
    message: string,
    readonly actions: readonly ServerAction[] = [RESTART, SHOW_LOG, DOCTOR],
  ) {
    super(message);
  }
}

/** By what it has, for it may come from another bundle, where its class is another. */
export function isServerProblem(error: unknown): error is ServerProblem {
  return error instanceof Error && "actions" in error;
}

/** A server that has answered `initialize`. */
export interface Running {
  readonly info: ServerInfo;
  /** Settles when the process has ended by itself, with the reason in words. */
  readonly ended: Promise<string>;
  execute(command: string, argument: unknown): Promise<unknown>;
  configure(settings: object): void;
  stop(): Promise<void>;
}

export type Launch = (onEvent: (record: EventRecord) => void) => Promise<Running>;

export interface Clock {
  now(): number;
  wait(seconds: number): Promise<void>;
}

const DELAYS = [1, 2, 4, 8];
/** A server that lived this long is no part of a crash loop. */
const CALM_SECONDS = 60;

export class ServerLife implements Odin {
  readonly #states = new Emitter<ServerState>();
  readonly #events = new Emitter<EventRecord>();
  readonly onDidChangeState: Event<ServerState> = this.#states.event;
  readonly onEvent: Event<EventRecord> = this.#events.event;
  #state: ServerState = { kind: "stopped" };
  #running: Promise<Running> | undefined;
  #current: Running | undefined;
  /** Settings that came while it was starting. */
  #late: object | undefined;
  /** Rises with every stop, so that what was under way for an earlier server comes to nothing. */
  #generation = 0;
  #crashes = 0;
  #startedAt = 0;

  constructor(
    private readonly launch: Launch,
    private readonly clock: Clock,
  ) {}

  get state(): ServerState {
    return this.#state;
  }

  async execute<Name extends CommandName>(
    command: Name,
    argument: Commands[Name]["argument"],
  ): Promise<Commands[Name]["result"]> {
    const running = await this.start();
    return (await running.execute(command, argument)) as Commands[Name]["result"];
  }

  /** Start it, unless it is running, on its way, or known not to work. */
  wake(): void {
    if (this.#state.kind === "stopped") {
      this.start().catch(() => {}); // told as its state
    }
  }

  start(): Promise<Running> {
    if (!this.#running) {
      this.#crashes = 0;
      this.#hold(this.#begin(this.#generation));
    }
    return this.#running as Promise<Running>;
  }

  configure(settings: object): void {
    if (this.#current) {
      this.#current.configure(settings);
    } else {
      this.#late = settings;
    }
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  async stop(): Promise<void> {
    this.#generation += 1;
    const current = this.#current;
    this.#current = undefined;
    this.#running = undefined;
    this.#tell({ kind: "stopped" });
    await current?.stop();
  }

  /** A rejection is told as the state; who waits for the server gets it besides. */
  #hold(running: Promise<Running>): void {
    this.#running = running;
    running.catch((error: unknown) => {
      if (this.#running === running) {
        this.#running = undefined;
        const actions = isServerProblem(error) ? error.actions : [RESTART, SHOW_LOG, DOCTOR];
        this.#tell({ kind: "failed", why: wordsOf(error), actions: [...actions] });
      }
    });
  }

  async #begin(generation: number, why?: string): Promise<Running> {
    this.#tell(why === undefined ? { kind: "starting" } : { kind: "starting", why });
    this.#late = undefined;
    let isKnown = false;
    const early: EventRecord[] = [];
    const running = await this.launch((record) => (isKnown ? this.#take(running, record) : early.push(record)));
    if (generation !== this.#generation) {
      await running.stop();
      throw new ServerProblem(t("The server was restarted meanwhile."));
    }
    this.#current = running;
    this.#startedAt = this.clock.now();
    if (this.#late) {
      running.configure(this.#late);
    }
    const revived = running.ended.then((reason) => {
      if (this.#current === running) {
        this.#current = undefined;
        this.#hold(this.#revive(generation, reason));
      }
    });
    inBackground(revived);
    this.#tell({ kind: "ready", info: running.info });
    isKnown = true;
    for (const record of early) {
      this.#take(running, record);
    }
    return running;
  }

  async #revive(generation: number, why: string): Promise<Running> {
    if (this.clock.now() - this.#startedAt > CALM_SECONDS) {
      this.#crashes = 0;
    }
    for (let reason = why; ; ) {
      const delay = DELAYS[this.#crashes];
      this.#crashes += 1;
      if (delay === undefined) {
        throw new ServerProblem(t("Odin's server keeps stopping. {0}", reason));
      }
      this.#tell({ kind: "starting", why: t("{0} It restarts in {1} s.", reason, delay) });
      await this.clock.wait(delay);
      if (generation !== this.#generation) {
        throw new ServerProblem(t("The server was restarted meanwhile."));
      }
      try {
        return await this.#begin(generation, reason);
      } catch (error) {
        if (generation !== this.#generation) {
          throw error;
        }
        reason = wordsOf(error);
      }
    }
  }

  #take(running: Running, record: EventRecord): void {
    if (this.#current === running) {
      this.#events.fire(record);
    }
  }

  #tell(state: ServerState): void {
    this.#state = state;
    this.#states.fire(state);
  }
}
