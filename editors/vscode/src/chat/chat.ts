// The chat's side of the server: what it tells goes into the store, and what follows from it is done.

import type { Disposable, Memento } from "vscode";
import { inBackground } from "../background";
import { t } from "../l10n";
import type { Odin, ServerState } from "../odin";
import type { EventRecord } from "../protocol";
import type { Store } from "../session/store";
import type { Transcript } from "../session/transcript";
import { Asking } from "./asking";
import { Kept } from "./kept";
import type { LocalModel } from "./messages";
import { MessageQueue } from "./queue";
import { Reading } from "./reading";
import { ChatSessions } from "./sessions";
import { Showing } from "./showing";
import { ChatTurns } from "./turns";

export class Chat implements Disposable {
  readonly turns: ChatTurns;
  readonly sessions: ChatSessions;
  readonly questions: Asking;
  readonly showing: Showing;
  readonly #queue: MessageQueue;
  readonly #subscriptions: Disposable[];
  /** There was a server. */
  #wasReady = false;

  constructor(
    private readonly odin: Odin,
    readonly store: Store,
    memory: Pick<Memento, "get" | "update">,
  ) {
    const kept = new Kept(memory);
    const reading = new Reading(odin, store, (session, record) => this.#told(session, record));
    this.#queue = new MessageQueue(odin);
    this.questions = new Asking(store);
    this.sessions = new ChatSessions(odin, store, kept, reading, this.questions);
    this.turns = new ChatTurns(odin, store, kept, this.#queue, this.questions, this.sessions);
    this.showing = new Showing(store);
    this.#subscriptions = [
      odin.onEvent((record) => this.#take(record)),
      odin.onDidChangeState((state) => this.#follow(state)),
    ];
    this.#follow(odin.state);
  }

  async selectModel(model: string): Promise<void> {
    await this.sessions.attempt(async () =>
      this.store.set({ model: (await this.odin.execute("odin.model", { model })).model }),
    );
  }

  /** Those of servers on this computer; nobody asks them unless the user sees the answer. */
  async localModels(): Promise<LocalModel[]> {
    const { local = [] } = await this.odin.execute("odin.model", { findLocal: true });
    return local.flatMap(({ name, models }) => models.map((model) => ({ model, name })));
  }

  /** The user may have chosen another model. */
  async updateModel(): Promise<void> {
    await this.sessions.attempt(async () =>
      this.store.set({ model: (await this.odin.execute("odin.model", {})).model }),
    );
  }

  dispose(): void {
    this.showing.dispose();
    for (const subscription of this.#subscriptions) subscription.dispose();
    this.questions.giveUpAll();
  }

  #take(record: EventRecord): void {
    const { event } = record;
    if (event.kind === "sessionSwitchStarted") this.sessions.switchStarted(event.sessionId);
    else if (event.kind === "sessionRestored") inBackground(this.sessions.restoredElsewhere(event.sessionId));
    this.store.take(record, (session) => this.#told(session, record));
  }

  #told(session: Transcript, { event, turnId }: EventRecord): void {
    const { kind } = event;
    if (event.kind === "turnEdited") this.#queue.edited(session, turnId, event);
    if (kind === "turnQueued") inBackground(this.#queue.take(session, turnId).then(() => this.store.changed()));
    if (kind === "turnFinished" || kind === "questionAnswered") this.questions.giveUpUnasked();
  }

  #follow(state: ServerState): void {
    this.store.follow(state);
    if (state.kind !== "ready") {
      for (const session of this.store.sessions) this.#loseAll(session, state);
      return;
    }
    const isAnother = this.#wasReady;
    this.#wasReady = true;
    inBackground(this.#readRole());
    if (!this.sessions.hasRestored && this.showing.isWatched) inBackground(this.sessions.restore());
    else if (isAnother) inBackground(this.sessions.readAgain());
  }

  async #readRole(): Promise<void> {
    this.store.set({ role: (await this.odin.execute("odin.role", {})).role });
  }

  #loseAll(session: Transcript, state: ServerState): void {
    if (state.kind === "starting" && state.why === undefined) return;
    const { running, queue } = session.state.head;
    const why = "why" in state && state.why ? state.why : t("The window or Odin was closed before the turn ended.");
    for (const turnId of [...(running ? [running] : []), ...queue.map((it) => it.turnId)]) {
      this.turns.lose(session, turnId, why);
    }
  }
}
