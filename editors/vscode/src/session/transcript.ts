// What was said and done in one session: events in, the state of the chat and its changes out. Besides the events there
// is only what the user has just done, until the server tells of it.

import type { Mode } from "../odin";
import type { Answer, EventPage, EventRecord, Question, Review, State } from "../protocol";
import { Fold } from "./fold";
import { isAside, Ledger } from "./ledger";
import type { Patch } from "./patches";
import * as questions from "./questions";
import type { ChatState, Head, Turn, TurnHead, Waiting } from "./state";

/** What is of no use later. */
const PASSING: ReadonlySet<string> = new Set([
  ...["turnQueued", "activityChanged", "toolQueued", "modelStatusChanged"],
  ...["requestStarted", "requestProgress", "thinkingStarted", "thinkingFinished"],
  ...["sessionSwitchStarted", "sessionRestored", "sessionRenamed", "sessionBegun", "trustChanged", "turnEdited"],
  ...["serversChanged"],
]);
/** What is of no use after what it comes to, which is an event of its own. */
const STREAMED: ReadonlySet<string> = new Set([
  ...["textStreamed", "thinkingStreamed", "argumentsStreamed", "toolProgress"],
]);
const SETTLING: ReadonlySet<string> = new Set([
  ...["messageFinished", "streamRolledBack", "toolFinished", "backgroundFinished", "turnFinished"],
]);

export class Transcript {
  readonly #ledger = new Ledger();
  #fold = new Fold(this.#ledger);
  /** All that the state is folded from, without what has been settled since. */
  #records: EventRecord[] = [];
  /** Where the page before the first record ends. */
  #before: number | undefined;
  /** All that has happened in the session is known, or can be shown when it is wanted. */
  readonly isWhole: boolean;

  constructor({ isWhole }: { isWhole: boolean } = { isWhole: true }) {
    this.isWhole = isWhole;
  }

  get state(): ChatState {
    return this.#ledger.state;
  }

  get hasChanges(): boolean {
    return this.#ledger.hasChanges;
  }

  takeChanges(): Patch[] {
    return this.#ledger.takeChanges();
  }

  /** Whoever shows this one now knows nothing of it yet. */
  showAll(): void {
    this.#ledger.showAll();
  }

  setHead(changed: Partial<Head>): void {
    this.#ledger.setHead(changed);
  }

  take(record: EventRecord): void {
    const { event } = record;
    if (event.kind === "turnStarted") {
      const waited = this.unqueue(record.turnId);
      if (waited && !this.isKnown(record.turnId)) this.#addOwn(record.turnId, waited.body, waited.mode);
    } else if (event.kind === "turnFinished") {
      this.unqueue(record.turnId);
    }
    this.#keep(record);
    this.#fold.take(record);
  }

  /** What the server has kept of the session takes the place of all that is known from elsewhere. */
  read(page: EventPage): void {
    this.#records = [...page.events];
    this.#refold(page);
  }

  /** Where to ask for what came before; none: there is nothing. */
  get before(): number | undefined {
    return this.#before;
  }

  readEarlier(page: EventPage): void {
    const { costUsd } = this.state.head;
    this.#records = [...page.events, ...this.#records];
    this.#refold(page);
    this.#ledger.countCost(costUsd);
  }

  /** What the server knows of the session besides what has happened in it. */
  settleWith({ executing, suspended, compacting, queue, unbegun, usage }: State): void {
    if (!executing) this.#rest(suspended);
    this.setHead({ isCompacting: compacting });
    for (const { timestamp: _, ...message } of queue) this.enqueue({ ...message, lost: false });
    for (const { timestamp: _, ...message } of unbegun) this.enqueue({ ...message, lost: true });
    this.#ledger.countCost(usage.costUsd);
  }

  /** The user's words, as soon as they are said. */
  begin(turnId: string, said: string, mode: Mode): void {
    this.#addOwn(turnId, said, mode);
    this.setHead({ running: turnId, activity: "connecting", detail: "" });
  }

  /** The user wants the turn to go on. */
  goOn(turnId: string): void {
    this.setTurn(turnId, { status: "running", reason: undefined, detail: undefined, problem: undefined });
    this.setHead({ running: turnId, activity: "connecting", detail: "" });
  }

  enqueue(message: Waiting): void {
    const others = this.state.head.queue.filter((it) => it.turnId !== message.turnId);
    this.setHead({ queue: [...others, message] });
  }

  waiting(turnId: string): Waiting | undefined {
    return this.state.head.queue.find((it) => it.turnId === turnId);
  }

  unqueue(turnId: string): Waiting | undefined {
    const found = this.waiting(turnId);
    if (found) this.setHead({ queue: this.state.head.queue.filter((it) => it !== found) });
    return found;
  }

  /** The turn will not be heard of any more: its server is gone, or would not take it. */
  lose(turnId: string, why: string): void {
    const turn = this.#ledger.find(turnId);
    if (turn?.head.status !== "running") return;
    const reason = turn.head.number === undefined ? "failed" : "aborted";
    this.#fold.close(turn, { status: "lost", reason, detail: why });
  }

  /** It was shown as running, but has to wait for another one. */
  withdraw(turnId: string): void {
    const turn = this.#ledger.find(turnId);
    if (turn) this.#ledger.remove(turn);
    if (this.state.head.running === turnId) this.setHead({ running: undefined });
  }

  isKnown(turnId: string): boolean {
    return this.#ledger.find(turnId) !== undefined;
  }

  turn(turnId: string): TurnHead | undefined {
    return this.#ledger.find(turnId)?.head;
  }

  setTurn(turnId: string, changed: Partial<TurnHead>): void {
    const turn = this.#ledger.find(turnId);
    if (turn) this.#ledger.changeTurn(turn, changed);
  }

  /** Turns from that one on whose changes are still in the documents, the newest first. */
  changedFrom(turnId: string): TurnHead[] {
    const heads = this.state.turns.map((it) => it.head);
    const from = heads.slice(heads.findIndex((it) => it.id === turnId));
    return from.filter((it) => it.changed.length > 0 && !it.undone && it.status !== "running").reverse();
  }

  ask(question: Question): void {
    questions.ask(this.#ledger, this.#ledger.find(this.state.head.running ?? "") ?? this.#ledger.aside(), question);
  }

  isAsking(questionId: string): boolean {
    return questions.isOpen(this.#ledger, questionId);
  }

  settle(questionId: string, answer: Answer | null): void {
    questions.settle(this.#ledger, questionId, answer);
  }

  /** The turn of a review. */
  turnOfReview(proposalId: string): string | undefined {
    return this.#fold.reviews.find(proposalId)?.turn.head.id;
  }

  /** These are the reviews that wait, of all sessions. */
  setReviews(open: readonly Review[]): void {
    this.#fold.reviews.set(open.filter((it) => it.sessionId === this.state.head.sessionId));
  }

  notice(level: "info" | "warning" | "error", message: string): void {
    const turn = this.#ledger.aside();
    this.#ledger.put(turn, { kind: "notice", id: this.#ledger.name(turn, "notice"), level, message });
  }

  /** No turn runs, whatever the events say: the one that has no end waits for a review, or was cut off. */
  #rest(isSuspended: boolean): void {
    const turn = this.#ledger.find(this.state.head.running ?? "");
    if (turn?.head.number === undefined) return;
    if (isSuspended) this.#fold.suspend(turn);
    else this.#fold.close(turn, { status: "ended", reason: "aborted" });
  }

  #addOwn(turnId: string, said: string, mode: Mode): void {
    this.#ledger.add({ id: turnId, said, mode, status: "running", changed: [] });
  }

  #keep(record: EventRecord): void {
    const { event, turnId, agentId } = record;
    if (PASSING.has(event.kind)) return;
    if (SETTLING.has(event.kind)) {
      const isSettled = ({ event: old, ...of }: EventRecord): boolean => {
        if (of.turnId !== turnId || !STREAMED.has(old.kind)) return false;
        if (event.kind === "turnFinished") return true;
        if (of.agentId !== agentId) return false;
        if (old.kind === "toolProgress") return "callId" in event && event.callId === old.callId;
        return event.kind === "messageFinished" || event.kind === "streamRolledBack";
      };
      this.#records = this.#records.filter((it) => !isSettled(it));
    }
    if (event.kind !== "streamRolledBack") this.#records.push(record);
  }

  #refold({ earlierTurns, before }: EventPage): void {
    const { turns, head } = this.state;
    const { running, activity, detail } = head;
    this.#before = before;
    this.#ledger.clear(earlierTurns);
    this.setHead({ running: undefined, isCompacting: false, usage: {}, costUsd: 0, hasEarlier: before !== undefined });
    this.#fold = new Fold(this.#ledger);
    for (const record of this.#records) this.#fold.take(record);
    for (const turn of turns) {
      if (turn.head.number === undefined && !isAside(turn) && !this.isKnown(turn.head.id)) this.#adopt(turn);
    }
    if (this.state.head.running === running) this.setHead({ activity, detail });
  }

  /** The server has not told of it: it will, or it cannot. */
  #adopt({ head, items }: Turn): void {
    const turn = this.#ledger.add(head);
    for (const item of items) this.#ledger.put(turn, item);
    if (head.status === "running") this.setHead({ running: head.id });
  }
}
