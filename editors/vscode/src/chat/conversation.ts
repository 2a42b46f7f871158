// The chat's side of the server: turns, sessions, the queue and questions. What has happened in a session, the server knows.

import { randomUUID } from "node:crypto";
import type { CancellationToken, Disposable, Memento } from "vscode";
import { Emitter } from "../emitter";
import { type AfterCancel, type Mode, type Odin, type ServerState, TURN_COMMANDS, type Turns } from "../odin";
import type { Answer, ContextItem, EventRecord, Outcome, Question, SessionSummary } from "../protocol";
import { Asking } from "./asking";
import { Kept } from "./kept";
import type { Patch } from "./patches";
import { MessageQueue } from "./queue";
import { Reading } from "./reading";
import { Showing } from "./showing";
import type { ChatState, TurnHead } from "./state";
import { Transcript } from "./transcript";
import { Undoing } from "./undoing";

const CUT_OFF = "The window or Odin was closed before this ended.";

export class Conversation implements Turns, Disposable {
  readonly #odin: Odin;
  readonly #kept: Kept;
  readonly #subscriptions: Disposable[];
  #current = new Transcript();
  /** The sessions in which something was said since the start, by their ids. */
  #chats = new Map<string, Transcript>();
  readonly #queue: MessageQueue;
  readonly #reading: Reading;
  readonly #undoing: Undoing;
  readonly #showing = new Showing(() => this.#current);
  #asking = new Asking((chat) => this.#showing.changed(chat));
  readonly #returned = new Emitter<string>();
  /** Words of the user that belong into the input again. */
  readonly onDidReturn = this.#returned.event;
  #restoring: Promise<void> | undefined;
  #switching = 0;
  #wanted = "";
  /** There was a server. */
  #wasReady = false;

  constructor(odin: Odin, store: Pick<Memento, "get" | "update">) {
    this.#odin = odin;
    this.#kept = new Kept(store);
    this.#queue = new MessageQueue(odin);
    this.#undoing = new Undoing(odin);
    this.#reading = new Reading(odin, (chat, record) => this.#tell(chat, record));
    this.#subscriptions = [
      odin.onEvent((record) => this.#take(record)),
      odin.onDidChangeState((state) => this.#follow(state)),
    ];
    this.#follow(odin.state);
  }

  get state(): ChatState {
    return this.#current.state;
  }

  get running(): { turnId: string; mode: Mode } | undefined {
    const turnId = this.state.head.running;
    const mode = turnId ? this.#current.turn(turnId)?.mode : undefined;
    return turnId && mode ? { turnId, mode } : undefined;
  }

  /** Have everything shown by `show` from now on, one change at a time; nothing is kept for whoever does not look. */
  connect(show: (patches: Patch[]) => void): Disposable {
    return this.#showing.connect(show);
  }

  /** Go on where the last window ended. */
  restore(): Promise<void> {
    this.#restoring ??= this.#restore();
    return this.#restoring;
  }

  async take(mode: Mode, text: string, context: readonly ContextItem[] = []): Promise<Outcome | undefined> {
    await this.restore();
    const turnId = randomUUID();
    const chat = this.#current;
    const waits = chat.state.head.running !== undefined;
    if (waits) chat.enqueue({ turnId, body: text, mode, lost: false });
    else chat.begin(turnId, text, mode);
    this.#kept.begin(turnId, context);
    this.#showing.changed(chat);
    const { sessionId } = chat.state.head;
    const argument = { text, turnId, sessionId, ...(context.length > 0 ? { context: [...context] } : {}) };
    return this.#seeThrough(chat, turnId, () => this.#odin.execute(TURN_COMMANDS[mode], argument));
  }

  /** Take up a turn that has not come to its end: nothing is said again. */
  async goOn(turnId: string): Promise<Outcome | undefined> {
    const chat = this.#current;
    if (chat.state.head.running !== undefined) return undefined;
    chat.goOn(turnId);
    this.#showing.changed(chat);
    const { sessionId } = chat.state.head;
    return this.#seeThrough(chat, turnId, () => this.#odin.execute("odin.continue", { sessionId }));
  }

  async cancel(queue: AfterCancel = "keep"): Promise<void> {
    await this.#attempt(async () => {
      const returned = await this.#queue.cancel(this.#current, queue);
      for (const { turnId } of returned) this.#kept.end(turnId);
      if (returned.length > 0) this.#returned.fire(returned.map((it) => it.body).join("\n\n"));
    });
  }

  /** Go on with the messages that wait, or with the last turn if none does. */
  async goOnWithLast(): Promise<void> {
    const { queue, sessionId } = this.state.head;
    const waits = queue.some((it) => !it.lost);
    await this.#attempt(() =>
      waits ? this.#queue.resume() : this.#odin.execute("odin.continue", sessionId ? { sessionId } : {}),
    );
  }

  async cancelHelper(agentId: string): Promise<void> {
    await this.#attempt(() => this.#odin.execute("odin.cancel", { turnId: this.state.head.running, agentId }));
  }

  /** The turn goes on with all that was said. */
  async cancelCompaction(): Promise<void> {
    const turnId = this.state.head.running;
    await this.#attempt(() => this.#odin.execute("odin.cancel", { turnId, only: "compaction" }));
  }

  /** Say the same once more, which the server has not taken. */
  async retry(turnId: string): Promise<Outcome | undefined> {
    const turn = this.#current.turn(turnId);
    if (!turn?.mode) return undefined;
    this.#current.withdraw(turnId);
    this.#kept.end(turnId);
    return this.take(turn.mode, turn.said, this.#kept.contextOf(turnId));
  }

  async editQueued(turnId: string, text: string): Promise<void> {
    await this.#attempt(() => this.#queue.edit(this.#current, turnId, text));
  }

  async removeQueued(turnId: string): Promise<void> {
    await this.#attempt(async () => {
      await this.#queue.remove(this.#current, turnId);
      this.#kept.end(turnId);
    });
  }

  /** Say what waits: into the turn that runs, or, if its server went away, once more. */
  async sendQueued(turnId: string): Promise<Outcome | undefined> {
    const waiting = this.#current.waiting(turnId);
    if (!waiting) return undefined;
    await this.removeQueued(turnId);
    if (this.state.head.queue.includes(waiting)) return undefined;
    const context = this.#kept.contextOf(turnId);
    if (!waiting.lost && (await this.#steer(waiting.body, context))) return undefined;
    return this.take(waiting.mode, waiting.body, context);
  }

  /** Whether there is a turn that hears it. */
  async #steer(text: string, context: readonly ContextItem[] = []): Promise<boolean> {
    const said = this.#odin.execute("odin.steer", { text, context: [...context] });
    return said.then(({ taken }) => taken).catch(() => false);
  }

  async undo(turnId: string): Promise<void> {
    await this.#attempt(() => this.#undoing.undo(this.#current, turnId));
  }

  async bringBack(turnId: string): Promise<void> {
    await this.#attempt(() => this.#undoing.bringBack(this.#current, turnId));
  }

  /** Cancel the turn of a review without keeping what waits in it; `false` if the turn is over. */
  async cancelWithReview(proposalId: string): Promise<boolean> {
    const turnId = this.#current.turnOfReview(proposalId);
    if (!turnId || turnId !== this.state.head.running) return false;
    await this.#attempt(() => this.#odin.execute("odin.cancel", { turnId, drop: true }));
    return true;
  }

  /** Where the user is in a review, in words. */
  place(proposalId: string, position: string): void {
    for (const chat of new Set([this.#current, ...this.#chats.values()])) chat.place(proposalId, position);
    this.#showing.changed(this.#current);
  }

  planOf(turnId: string): string | undefined {
    return this.#current.turn(turnId)?.plan;
  }

  /** The user may have chosen another model. */
  async updateModel(): Promise<void> {
    await this.#attempt(async () => {
      const { model } = await this.#odin.execute("odin.model", {});
      this.#current.setHead({ model });
    });
  }

  async newSession(): Promise<void> {
    await this.#switch(async () => {
      const { sessionId, title } = await this.#odin.execute("odin.session.new", {});
      return this.#adopt(new Transcript(), sessionId, title);
    });
  }

  async openSession(sessionId: string): Promise<void> {
    await this.#switch(async () => this.#opened(await this.#reading.resume(sessionId)));
  }

  /** Have the server forget all that was said in the session. */
  async clear(): Promise<void> {
    const { sessionId } = this.state.head;
    if (!sessionId) return;
    this.#switching += 1;
    try {
      this.#display(await this.#opened(await this.#odin.execute("odin.clear", { sessionId })));
    } finally {
      this.#switching -= 1;
    }
  }

  /** What came before the first turn that is shown. */
  async showEarlier(): Promise<void> {
    await this.#attempt(() => this.#reading.readEarlier(this.#current));
  }

  /** Turns from that one on whose changes could be taken back, the newest first. */
  changedFrom(turnId: string): TurnHead[] {
    return this.#current.changedFrom(turnId);
  }

  /** A copy of the session that ends before that turn, whose words come back to be changed. What the `undone` turns have
   * changed is taken back as well. */
  async forkAt(turnId: string, undone: readonly TurnHead[] = []): Promise<string | undefined> {
    const left = this.#current;
    const { sessionId } = this.state.head;
    const message = left.turn(turnId)?.number;
    if (!sessionId || message === undefined) return undefined;
    let draft: string | undefined;
    await this.#switch(async () => {
      const summary = await this.#odin.execute("odin.session.fork", { sessionId, message });
      draft = summary.draft;
      return this.#opened(summary);
    });
    if (draft === undefined) return undefined;
    for (const { id } of undone) {
      await this.#attempt(() => this.#undoing.undoBehind(left, id, this.#current));
    }
    return draft;
  }

  async deleteSession(sessionId: string): Promise<void> {
    await this.#attempt(async () => {
      await this.#odin.execute("odin.session.delete", { sessionId, confirm: true });
      this.#chats.delete(sessionId);
      if (this.state.head.sessionId === sessionId) this.#display(new Transcript());
    });
  }

  async sessions(query: string): Promise<SessionSummary[]> {
    const { sessions } = await this.#odin.execute("odin.session.list", query ? { query } : {});
    return sessions;
  }

  /** Show a question and wait for the answer of `answer`; `null` if there is none. */
  ask(question: Question, token: CancellationToken): Promise<Answer | null> {
    return this.#asking.ask(this.#current, question, token);
  }

  answer(questionId: string, answer: Answer): void {
    this.#asking.answer(questionId, answer);
  }

  dispose(): void {
    this.#showing.dispose();
    for (const subscription of this.#subscriptions) subscription.dispose();
    this.#asking.giveUpAll();
  }

  #take(record: EventRecord): void {
    const { event } = record;
    if (event.kind === "sessionSwitchStarted") this.#wanted = event.sessionId;
    else if (event.kind === "sessionRestored") {
      this.#restoredElsewhere(event.sessionId);
      this.#wanted = "";
    }
    const chat = this.#chatOf(record);
    if (!this.#reading.holds(chat, record)) this.#tell(chat, record);
  }

  #tell(chat: Transcript, record: EventRecord): void {
    const { kind } = record.event;
    if (kind === "turnQueued") void this.#queue.take(chat, record.turnId).then(() => this.#showing.changed(chat));
    chat.take(record);
    if (kind === "turnFinished" || kind === "questionAnswered") this.#asking.giveUpUnasked();
    this.#showing.changed(chat);
  }

  #chatOf(record: EventRecord): Transcript {
    const { sessionId } = record;
    if (!sessionId || sessionId === this.state.head.sessionId) return this.#current;
    const known = this.#chats.get(sessionId);
    if (known) return known;
    const isOwn = this.#current.isKnown(record.turnId) && record.turnId !== "";
    const isFirst = this.state.head.sessionId === undefined && record.turnId !== "";
    // What happens in a session that nobody looks at is read when somebody does.
    return isOwn || isFirst ? this.#adopt(this.#current, sessionId) : new Transcript();
  }

  /** Somebody else asked for a session: a command, or a message to one that is open in another window. One that nobody
   * asked for has been emptied. */
  #restoredElsewhere(sessionId: string): void {
    if (this.#switching > 0) return;
    if (this.#wanted === this.state.head.sessionId) {
      if (sessionId !== this.#wanted) this.#adopt(this.#current, sessionId);
    } else {
      void this.openSession(sessionId);
    }
  }

  #follow(state: ServerState): void {
    if (state.kind === "ready") {
      const isAnother = this.#wasReady;
      this.#wasReady = true;
      this.#current.setHead({ trouble: undefined, model: state.info.model });
      if (this.#restoring === undefined && this.#showing.isWatched) void this.restore();
      else if (isAnother) void this.#readAgain();
    } else {
      for (const chat of new Set([this.#current, ...this.#chats.values()])) this.#loseAll(chat, state);
      const trouble = state.kind === "failed" ? { why: state.why, actions: state.actions } : undefined;
      this.#current.setHead({ trouble });
    }
    this.#showing.changed(this.#current);
  }

  #loseAll(chat: Transcript, state: ServerState): void {
    if (state.kind === "starting" && state.why === undefined) return;
    const { running, queue } = chat.state.head;
    const why = "why" in state && state.why ? state.why : CUT_OFF;
    for (const turnId of [...(running ? [running] : []), ...queue.map((it) => it.turnId)]) {
      this.#lose(chat, turnId, why);
    }
  }

  #lose(chat: Transcript, turnId: string, why: string): void {
    const waiting = chat.waiting(turnId);
    if (waiting) chat.enqueue({ ...waiting, lost: true });
    else chat.lose(turnId, why);
    this.#asking.giveUpUnasked();
    this.#showing.changed(chat);
  }

  async #restore(): Promise<void> {
    const { sessionId } = this.#kept;
    if (this.state.head.sessionId || !sessionId) return;
    this.#switching += 1;
    try {
      this.#display(await this.#opened(await this.#reading.resume(sessionId)));
    } catch (error) {
      // Without a server there is nothing to go on with yet: it is tried again when there is one.
      if (this.#odin.state.kind !== "ready") this.#restoring = undefined;
      else this.#current.notice("warning", `The last session could not be opened: ${wordsOf(error)}`);
    } finally {
      this.#switching -= 1;
    }
    this.#showing.changed(this.#current);
  }

  /** The server is another one than before: what it knows is what there is. */
  async #readAgain(): Promise<void> {
    const chat = this.#current;
    const { sessionId } = chat.state.head;
    this.#chats.clear();
    if (!sessionId || chat.state.turns.length === 0) return;
    this.#switching += 1;
    await this.#attempt(async () => {
      const summary = await this.#reading.resume(sessionId);
      this.#adopt(chat, summary.sessionId, summary.title);
      await this.#read(chat, summary.sessionId);
    });
    this.#switching -= 1;
  }

  async #switch(open: () => Promise<Transcript>): Promise<void> {
    this.#switching += 1;
    await this.#attempt(async () => this.#display(await open()));
    this.#switching -= 1;
  }

  async #opened({ sessionId, title }: SessionSummary): Promise<Transcript> {
    const known = this.#chats.get(sessionId);
    if (known?.state.head.running) return known;
    const chat = this.#adopt(new Transcript(), sessionId, title);
    await this.#read(chat, sessionId);
    return chat;
  }

  async #read(chat: Transcript, sessionId: string): Promise<void> {
    await this.#reading.read(chat, sessionId);
    this.#asking.askAgain(chat);
    this.#showing.changed(chat);
  }

  #adopt(chat: Transcript, sessionId: string, title?: string): Transcript {
    this.#chats.set(sessionId, chat);
    chat.setHead({ sessionId, ...(title === undefined ? {} : { title }) });
    if (chat === this.#current) this.#kept.sessionId = sessionId;
    return chat;
  }

  #display(chat: Transcript): void {
    const { model, trouble } = this.state.head;
    const before = this.#current;
    if (before.state.head.sessionId && !before.state.head.running) this.#chats.delete(before.state.head.sessionId);
    this.#current = chat;
    chat.setHead({ model, trouble });
    if (chat.state.head.sessionId) this.#chats.set(chat.state.head.sessionId, chat);
    chat.showAll();
    this.#kept.sessionId = chat.state.head.sessionId;
    this.#showing.changed(chat);
  }

  /** Do it; what goes wrong is told in the chat. */
  async #attempt(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#current.notice("error", wordsOf(error));
    }
    this.#showing.changed(this.#current);
  }

  /** See the turn to its end. */
  async #seeThrough(chat: Transcript, turnId: string, work: () => Promise<Outcome>): Promise<Outcome | undefined> {
    try {
      const outcome = await work();
      this.#kept.end(turnId);
      return outcome;
    } catch (error) {
      if (this.#odin.state.kind === "ready") this.#kept.end(turnId);
      this.#lose(chat, turnId, wordsOf(error));
      return undefined;
    }
  }
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
