// The chat's side of the server: turns, sessions, the queue and questions; what the user would lose is kept across reloads.

import { randomUUID } from "node:crypto";
import type { CancellationToken, Disposable, Memento } from "vscode";
import { type Mode, type Odin, type ServerState, type SessionState, TURN_COMMANDS, type Turns } from "../odin";
import type { Answer, ContextItem, EventRecord, Outcome, Question, SessionSummary } from "../protocol";
import type { Patch } from "./patches";
import type { ChatState } from "./state";
import { Transcript } from "./transcript";

const KEY = "odin.chat";
const PACE_MS = 50;
const SAVE_MS = 1000;
const MAX_SAVED = 50_000;
const CUT_OFF = "The window or Odin was closed before this ended.";

/** A message whose turn has not ended, as far as is known. */
interface Unfinished {
  turnId: string;
  mode: Mode;
  text: string;
  context: readonly ContextItem[];
  begun: boolean;
  /** What was streamed so far. */
  answer?: string;
}

interface Saved {
  sessionId?: string;
  unfinished: Unfinished[];
}

interface Asked {
  question: Question;
  chat: Transcript;
  resolve: (answer: Answer | null) => void;
}

export class Conversation implements Turns, Disposable {
  readonly #odin: Odin;
  readonly #store: Pick<Memento, "get" | "update">;
  readonly #subscriptions: Disposable[];
  #current = new Transcript();
  /** The sessions in which something was said since the start, by their ids. */
  #chats = new Map<string, Transcript>();
  #unfinished: Unfinished[];
  /** The session of the last window, until there is one in this. */
  #lastSession: string | undefined;
  /** What went with messages, for asking again. */
  #contexts = new Map<string, readonly ContextItem[]>();
  #asked = new Map<string, Asked>();
  #show: ((patches: Patch[]) => void) | undefined;
  #timer: NodeJS.Timeout | undefined;
  #saveTimer: NodeJS.Timeout | undefined;
  #restoring: Promise<void> | undefined;
  #switching = 0;
  #wanted = "";

  constructor(odin: Odin, store: Pick<Memento, "get" | "update">) {
    this.#odin = odin;
    this.#store = store;
    const saved = store.get<Saved>(KEY);
    this.#lastSession = saved?.sessionId;
    this.#unfinished = saved?.unfinished ?? [];
    for (const it of this.#unfinished) this.#contexts.set(it.turnId, it.context);
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
    this.#current.showAll();
    this.#show = show;
    this.#flush();
    return { dispose: () => (this.#show = this.#show === show ? undefined : this.#show) };
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
    this.#contexts.set(turnId, context);
    this.#remember([...this.#unfinished, { turnId, mode, text, context, begun: !waits }]);
    this.#changed(chat);
    const { sessionId } = chat.state.head;
    try {
      const argument = { text, turnId, sessionId, ...(context.length > 0 ? { context: [...context] } : {}) };
      const outcome = await this.#odin.execute(TURN_COMMANDS[mode], argument);
      this.#forget(turnId);
      return outcome;
    } catch (error) {
      if (this.#odin.state.kind === "ready") this.#forget(turnId);
      this.#lose(chat, turnId, wordsOf(error));
      return undefined;
    }
  }

  async cancel(): Promise<void> {
    const turnId = this.state.head.running;
    if (turnId) await this.#attempt(() => this.#odin.execute("odin.cancel", { turnId }));
  }

  async cancelHelper(agentId: string): Promise<void> {
    await this.#attempt(() => this.#odin.execute("odin.cancel", { turnId: this.state.head.running, agentId }));
  }

  /** The same once more: of a turn that was cut off, or that went wrong. */
  async retry(turnId: string): Promise<Outcome | undefined> {
    const turn = this.#current.turn(turnId);
    if (!turn?.mode) return undefined;
    this.#forget(turnId);
    return this.take(turn.mode, turn.said, this.#contexts.get(turnId));
  }

  async editQueued(turnId: string, text: string): Promise<void> {
    const waiting = this.state.head.queue.find((it) => it.turnId === turnId);
    if (!waiting) return;
    await this.#attempt(async () => {
      if (!waiting.lost) await this.#odin.execute("odin.queue", { action: "edit", turnId, text });
      const queue = this.state.head.queue.map((it) => (it.turnId === turnId ? { ...it, body: text } : it));
      this.#current.setHead({ queue });
      this.#remember(this.#unfinished.map((it) => (it.turnId === turnId ? { ...it, text } : it)));
    });
  }

  async removeQueued(turnId: string): Promise<void> {
    const waiting = this.state.head.queue.find((it) => it.turnId === turnId);
    await this.#attempt(async () => {
      if (!waiting?.lost) await this.#odin.execute("odin.queue", { action: "remove", turnId });
      this.#current.unqueue(turnId);
      this.#forget(turnId);
    });
  }

  /** Say what waits: into the turn that runs, or, if its server went away, once more. */
  async sendQueued(turnId: string): Promise<Outcome | undefined> {
    const waiting = this.state.head.queue.find((it) => it.turnId === turnId);
    if (!waiting) return undefined;
    await this.removeQueued(turnId);
    if (this.state.head.queue.includes(waiting)) return undefined;
    const context = this.#contexts.get(turnId);
    if (!waiting.lost && (await this.#steer(waiting.body, context))) return undefined;
    return this.take(waiting.mode, waiting.body, context);
  }

  /** Whether there is a turn that hears it. */
  async #steer(text: string, context: readonly ContextItem[] = []): Promise<boolean> {
    const said = this.#odin.execute("odin.steer", { text, context: [...context] });
    return said.then(({ taken }) => taken).catch(() => false);
  }

  async undo(turnId: string): Promise<void> {
    const chat = this.#current;
    await this.#attempt(async () => {
      const { kept } = await this.#odin.execute("odin.undoTurn", { turnId });
      chat.setTurn(turnId, { undone: true });
      for (const file of kept)
        chat.notice("warning", `${fileName(file.uri)} was left as it is: ${file.reason}`, turnId);
    });
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
    this.#changed(this.#current);
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
      const summary = await this.#odin.execute("odin.session.new", {});
      return this.#adopt(Transcript.restored(summary, []), summary.sessionId);
    });
  }

  async openSession(sessionId: string): Promise<void> {
    await this.#switch(async () => this.#opened(await this.#odin.execute("odin.session.resume", { sessionId })));
  }

  /** A copy of the session that ends before that turn, whose words come back to be changed. */
  async forkAt(turnId: string): Promise<string | undefined> {
    const { sessionId } = this.state.head;
    const message = this.#current.turn(turnId)?.number;
    if (!sessionId || message === undefined) return undefined;
    let draft: string | undefined;
    await this.#switch(async () => {
      const summary = await this.#odin.execute("odin.session.fork", { sessionId, message });
      draft = summary.draft;
      return this.#opened(summary);
    });
    return draft;
  }

  async renameSession(sessionId: string, title: string): Promise<void> {
    await this.#attempt(() => this.#odin.execute("odin.session.rename", { sessionId, title }));
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
    const chat = this.#current;
    chat.ask(question);
    this.#changed(chat);
    return new Promise((resolve) => {
      this.#asked.set(question.questionId, { question, chat, resolve });
      token.onCancellationRequested(() => this.#giveUp(question.questionId));
      if (token.isCancellationRequested) this.#giveUp(question.questionId);
    });
  }

  answer(questionId: string, answer: Answer): void {
    const asked = this.#asked.get(questionId);
    if (!asked) return;
    const labels = (answer.optionIds ?? []).map((id) => labelOf(asked.question, id));
    asked.chat.settle(questionId, { labels, ...(answer.text ? { text: answer.text } : {}) });
    this.#asked.delete(questionId);
    asked.resolve(answer);
    this.#changed(asked.chat);
  }

  isAsking(questionId: string): boolean {
    return this.#asked.has(questionId);
  }

  dispose(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#saveTimer);
    for (const subscription of this.#subscriptions) subscription.dispose();
    for (const questionId of [...this.#asked.keys()]) this.#giveUp(questionId);
  }

  #take(record: EventRecord): void {
    const chat = this.#chatOf(record);
    const { event } = record;
    switch (event.kind) {
      case "turnQueued":
        void this.#listQueue(chat, record.turnId);
        break;
      case "turnStarted":
        this.#remember(this.#unfinished.map((it) => (it.turnId === record.turnId ? { ...it, begun: true } : it)));
        break;
      case "sessionSwitchStarted":
        this.#wanted = event.sessionId;
        break;
      case "sessionRestored":
        this.#restoredElsewhere(event.sessionId);
    }
    chat.take(record);
    if (event.kind === "textStreamed" && chat.state.head.running === record.turnId) this.#saveSoon(record, chat);
    if (event.kind === "turnFinished" || event.kind === "questionAnswered") this.#giveUpUnasked();
    this.#changed(chat);
  }

  #chatOf(record: EventRecord): Transcript {
    const { sessionId } = record;
    if (!sessionId || sessionId === this.state.head.sessionId) return this.#current;
    const known = this.#chats.get(sessionId);
    if (known) return known;
    const isOwn = this.#current.isKnown(record.turnId) && record.turnId !== "";
    const isFirst = this.state.head.sessionId === undefined && record.turnId !== "";
    if (isOwn || isFirst) {
      this.#adopt(this.#current, sessionId);
      return this.#current;
    }
    return record.turnId ? this.#adopt(new Transcript(), sessionId) : new Transcript();
  }

  /** Somebody else asked for a session: a command, or a message to one that is open in another window. */
  #restoredElsewhere(sessionId: string): void {
    if (this.#switching > 0) return;
    if (this.#wanted === this.state.head.sessionId) {
      if (sessionId !== this.#wanted) this.#adopt(this.#current, sessionId);
    } else {
      void this.openSession(sessionId);
    }
  }

  /** A message that is queued may come from a code action: ask what it says. */
  async #listQueue(chat: Transcript, turnId: string): Promise<void> {
    const started = chat.turn(turnId);
    if (started?.mode) {
      chat.withdraw(turnId);
      chat.enqueue({ turnId, body: started.said, mode: started.mode, lost: false });
    } else if (!chat.state.head.queue.some((it) => it.turnId === turnId)) {
      const { queue } = await this.#odin.execute("odin.queue", { action: "list" });
      const found = queue.find((it) => it.turnId === turnId);
      if (found) chat.enqueue({ turnId, body: found.body, mode: found.mode, lost: false });
    }
    this.#changed(chat);
  }

  #follow(state: ServerState): void {
    if (state.kind === "ready") {
      const { model } = state.info;
      this.#current.setHead({ trouble: undefined, model });
      if (this.#restoring === undefined && this.#show) void this.restore();
      else if (this.#current.isReviewing) void this.#attempt(() => this.#listReviews(this.#current));
    } else {
      for (const chat of new Set([this.#current, ...this.#chats.values()])) this.#loseAll(chat, state);
      const trouble = state.kind === "failed" ? { why: state.why, actions: state.actions } : undefined;
      this.#current.setHead({ trouble });
    }
    this.#changed(this.#current);
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
    const waiting = chat.state.head.queue.find((it) => it.turnId === turnId);
    if (waiting) chat.enqueue({ ...waiting, lost: true });
    else chat.lose(turnId, why);
    this.#giveUpUnasked();
    this.#changed(chat);
  }

  async #restore(): Promise<void> {
    const sessionId = this.#lastSession;
    if (this.state.head.sessionId || !(sessionId || this.#unfinished.length > 0)) return;
    this.#switching += 1;
    try {
      if (sessionId) this.#display(await this.#opened(await this.#odin.execute("odin.session.resume", { sessionId })));
    } catch (error) {
      // Without a server there is nothing to go on with yet: it is tried again when there is one.
      if (this.#odin.state.kind !== "ready") this.#restoring = undefined;
      else this.#current.notice("warning", `The last session could not be opened: ${wordsOf(error)}`);
    } finally {
      this.#switching -= 1;
    }
    for (const { turnId, mode, text, begun, answer = "" } of this.#unfinished) {
      if (begun) this.#current.addLost(turnId, text, mode, CUT_OFF, answer);
      else if (!this.#current.isKnown(turnId)) this.#current.enqueue({ turnId, body: text, mode, lost: true });
    }
    this.#changed(this.#current);
  }

  async #switch(open: () => Promise<Transcript>): Promise<void> {
    this.#switching += 1;
    await this.#attempt(async () => this.#display(await open()));
    this.#switching -= 1;
  }

  async #opened(summary: SessionSummary): Promise<Transcript> {
    const known = this.#chats.get(summary.sessionId);
    if (known?.state.head.running) return known;
    const state = (await this.#odin.execute("odin.state", {})) as unknown as SessionState;
    const chat = this.#adopt(Transcript.restored(summary, state.messages), summary.sessionId);
    await this.#listReviews(chat);
    return chat;
  }

  /** What waits for a review outlives the window, the server and its turn. */
  async #listReviews(chat: Transcript): Promise<void> {
    const { proposals } = await this.#odin.execute("odin.review.list", {});
    chat.setReviews(proposals);
    this.#changed(chat);
  }

  #adopt(chat: Transcript, sessionId: string): Transcript {
    this.#chats.set(sessionId, chat);
    if (chat.state.head.sessionId !== sessionId) chat.setHead({ sessionId });
    if (chat === this.#current) this.#save();
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
    this.#lastSession = undefined;
    this.#save();
    this.#changed(chat);
  }

  /** Do it; what goes wrong is told in the chat. */
  async #attempt(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#current.notice("error", wordsOf(error));
    }
    this.#changed(this.#current);
  }

  #giveUp(questionId: string): void {
    const asked = this.#asked.get(questionId);
    if (!asked) return;
    this.#asked.delete(questionId);
    asked.chat.settle(questionId, "gone");
    asked.resolve(null);
    this.#changed(asked.chat);
  }

  #giveUpUnasked(): void {
    for (const [questionId, { chat }] of [...this.#asked]) if (!chat.isAsking(questionId)) this.#giveUp(questionId);
  }

  #forget(turnId: string): void {
    this.#remember(this.#unfinished.filter((it) => it.turnId !== turnId));
  }

  #remember(unfinished: Unfinished[]): void {
    this.#unfinished = unfinished;
    this.#save();
  }

  #save(): void {
    const saved: Saved = { unfinished: this.#unfinished };
    const sessionId = this.state.head.sessionId ?? this.#lastSession;
    if (sessionId) saved.sessionId = sessionId;
    void this.#store.update(KEY, saved);
  }

  /** What is being answered is on no disk until its turn ends. */
  #saveSoon({ turnId }: EventRecord, chat: Transcript): void {
    this.#saveTimer ??= setTimeout(() => {
      this.#saveTimer = undefined;
      const answer = chat.answerOf(turnId).slice(0, MAX_SAVED);
      this.#remember(this.#unfinished.map((it) => (it.turnId === turnId ? { ...it, answer } : it)));
    }, SAVE_MS);
  }

  #changed(chat: Transcript): void {
    if (chat !== this.#current || !this.#show || !chat.hasChanges) return;
    this.#timer ??= setTimeout(() => this.#flush(), PACE_MS);
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#show && this.#current.hasChanges) this.#show(this.#current.takeChanges());
  }
}

function labelOf(question: Question, optionId: string): string {
  return question.options?.find((it) => it.id === optionId)?.label ?? optionId;
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function fileName(uri: string): string {
  return decodeURIComponent(uri.slice(uri.lastIndexOf("/") + 1));
}
