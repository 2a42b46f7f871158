// From events to what the chat shows. Events of now and stored ones are taken alike, and what passes leaves no trace:
// whoever was there sees the same as whoever comes later.

import { numberOf, t } from "../l10n";
import type { Event, EventRecord, Outcome, TurnStarted, Usage } from "../protocol";
import { Drafts } from "./drafts";
import { agentOf, type Ledger, MAIN } from "./ledger";
import * as questions from "./questions";
import { ReviewItems, withChanged } from "./review-items";
import { Speech } from "./speech";
import type { Item, Turn, TurnHead } from "./state";
import * as tools from "./tools";

export class Fold {
  readonly reviews: ReviewItems;
  readonly #ledger: Ledger;
  readonly #speech: Speech;
  readonly #drafts: Drafts;
  /** Of turns that were taken up again: what they had spent before, by their ids. */
  readonly #before = new Map<string, Pick<TurnHead, "usage" | "durationMs">>();

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
    this.reviews = new ReviewItems(ledger);
    this.#speech = new Speech(ledger);
    this.#drafts = new Drafts(ledger);
  }

  take(record: EventRecord): void {
    const { event } = record;
    switch (event.kind) {
      case "turnStarted":
        this.#start(record, event);
        break;
      case "turnFinished":
        if (record.agentId === MAIN) this.#finish(record, event.outcome);
        break;
      case "turnUndone": {
        const turn = this.#ledger.find(record.turnId);
        const { restored, kept = [], undoId, again } = event;
        const undone = again ? undefined : { restored, kept, ...(undoId ? { undoId } : {}) };
        if (turn) this.#ledger.changeTurn(turn, { undone });
        break;
      }
      case "activityChanged":
        if (record.agentId === MAIN) {
          this.#ledger.setHead({ activity: event.activity, detail: event.detail ?? "", retry: event.retry });
        }
        break;
      case "usageChanged":
        if (record.agentId === MAIN) this.#spend(record, event.usage);
        break;
      case "sessionRenamed":
        this.#ledger.setHead({ title: event.title });
        break;
      case "modelChanged":
        if (event.running !== event.selected) {
          this.#say(record, "info", t("{0} answers in place of {1}.", event.running, event.selected));
        }
        break;
      default:
        this.#takeItem(record, event);
    }
  }

  /** Nothing of the turn goes on any more: no tool, no question. */
  close(turn: Turn, changed: Partial<TurnHead>): void {
    this.#drafts.forget(turn);
    tools.forgetQueued(this.#ledger, turn);
    for (const item of turn.items) {
      const closed = closedItem(item);
      if (closed) this.#ledger.put(turn, closed);
    }
    this.#leave(turn, changed);
  }

  /** It waits for a review, and goes on from there. */
  suspend(turn: Turn): void {
    for (const item of turn.items) {
      if (item.kind === "review" && item.isOpen) this.#ledger.put(turn, { ...item, waits: true });
    }
    this.#leave(turn, { status: "suspended" });
  }

  #leave(turn: Turn, changed: Partial<TurnHead>): void {
    this.#ledger.changeTurn(turn, changed);
    if (this.#ledger.state.head.running === turn.head.id) {
      this.#ledger.setHead({ running: undefined, activity: "idle", detail: "", isCompacting: false });
    }
    this.#ledger.countCost();
  }

  #takeItem(record: EventRecord, event: Event): void {
    const ledger = this.#ledger;
    switch (event.kind) {
      case "textStreamed":
        this.#speech.stream(record, "text", event.text);
        break;
      case "thinkingStreamed":
        this.#speech.stream(record, "thinking", event.text);
        break;
      case "streamRolledBack":
        this.#drafts.end(record);
        this.#speech.rollBack(record);
        break;
      case "messageFinished":
        this.#drafts.end(record);
        this.#speech.finish(record, event);
        break;
      case "argumentsStreamed":
        this.#drafts.stream(record, event);
        break;
      case "toolQueued":
        tools.queueTool(ledger, record, event);
        break;
      case "toolStarted":
        tools.startTool(ledger, record, event);
        break;
      case "toolProgress":
        tools.addProgress(ledger, record, event.callId, event.text);
        break;
      case "toolFinished":
        tools.finishTool(ledger, record, event);
        break;
      case "backgroundFinished":
        tools.finishBackground(ledger, record, event);
        break;
      case "reviewOpened":
      case "reviewChanged":
      case "reviewClosed":
        this.reviews.take(record, event);
        break;
      case "questionAsked":
        if (event.question.kind !== "review") questions.ask(ledger, ledger.turnOf(record), event.question, record.at);
        break;
      case "questionAnswered":
        questions.settle(ledger, event.questionId, event.answer ?? null);
        break;
      default:
        this.#takeNote(record, event);
    }
  }

  #takeNote(record: EventRecord, event: Event): void {
    switch (event.kind) {
      case "todosChanged":
        this.#put(record, `${record.turnId}/${record.agentId}/todos`, { kind: "todos", todos: event.todos });
        break;
      case "diagnosticsCompared": {
        const { introduced = [], fixed = [], unsure: found = [], remaining = 0 } = event;
        if (introduced.length + fixed.length + found.length > 0) {
          const id = this.#ledger.name(this.#ledger.turnOf(record), "problems");
          this.#put(record, id, { kind: "problems", introduced, fixed, found, remaining });
        }
        break;
      }
      case "subagentStarted": {
        const { agentId, description, mode } = event;
        const about = { description, mode, status: "running", summary: "" } as const;
        this.#put(record, `helper/${agentId}`, { kind: "helper", ...about });
        break;
      }
      case "subagentFinished": {
        const turn = this.#ledger.turnOf(record);
        const item = this.#ledger.item(turn, "helper", `helper/${event.agentId}`);
        if (item) this.#ledger.put(turn, { ...item, status: event.status, summary: event.summary });
        break;
      }
      case "userSpoke": {
        const turn = this.#ledger.turnOf(record);
        this.#put(record, this.#ledger.name(turn, "spoken"), { kind: "spoken", text: event.text });
        break;
      }
      case "compacted":
        if (record.agentId === MAIN) this.#ledger.setHead({ isCompacting: event.status === "started" });
        if (event.status === "succeeded") {
          const [before, after] = [numberOf(event.before), numberOf(event.after)];
          this.#say(record, "info", t("Compacted the session: {0} → {1} tokens.", before, after));
        } else if (event.status === "failed") {
          this.#say(record, "warning", t("Could not compact the session."));
        }
        break;
      case "roleChanged":
        this.#say(record, "info", t("The role is now {0}.", event.role));
        break;
      case "notice":
        this.#say(record, event.level, event.message);
    }
  }

  /** A turn begins, or goes on: sessions take their turns one by one, so that another one that runs was cut off. */
  #start(record: EventRecord, { mode, model, text, attached, context }: TurnStarted): void {
    const ledger = this.#ledger;
    for (const turn of ledger.state.turns) {
      const isOpen = turn.head.status === "running" || turn.head.status === "suspended";
      if (isOpen && turn.head.id !== record.turnId && turn.head.number !== undefined) {
        this.close(turn, { status: "ended", reason: "aborted" });
      }
    }
    const turn = ledger.turnOf(record);
    const { usage, durationMs } = turn.head;
    if (usage) this.#before.set(record.turnId, { usage, durationMs });
    for (const item of turn.items) {
      if (item.kind === "review" && item.waits) ledger.put(turn, { ...item, waits: false });
    }
    ledger.changeTurn(turn, {
      ...{ said: text || turn.head.said, mode, number: turn.head.number ?? ledger.next, status: "running" },
      ...(model ? { model } : {}),
      ...(attached?.length ? { attached } : {}),
      ...(context?.length ? { context } : {}),
      ...{ reason: undefined, detail: undefined, problem: undefined, durationMs: undefined, retryAt: undefined },
      ...{ left: undefined },
    });
    ledger.setHead({ running: record.turnId, detail: "" });
  }

  #finish({ at }: EventRecord, outcome: Outcome): void {
    const turn = this.#ledger.find(outcome.turnId);
    if (!turn) return;
    this.#speech.forget(turn);
    const { reason, detail, problem, plan, diagnostics: left } = outcome;
    const before = this.#before.get(outcome.turnId);
    // Of a turn that was cut off its end knows less than what came before.
    const spent = outcome.durationMs
      ? { usage: plus(before?.usage, outcome.usage), durationMs: outcome.durationMs + (before?.durationMs ?? 0) }
      : { usage: turn.head.usage ?? outcome.usage };
    const changed = withChanged(turn.head.changed, outcome.receipts ?? []);
    const retryAt = problem?.retryAfter && at ? at + problem.retryAfter : undefined;
    this.close(turn, { status: "ended", reason, detail, problem, plan, left, retryAt, changed, ...spent });
  }

  #spend(record: EventRecord, usage: Usage): void {
    const turn = this.#ledger.find(record.turnId);
    const before = this.#before.get(record.turnId)?.usage;
    if (turn) this.#ledger.changeTurn(turn, { usage: plus(before, usage) });
    this.#ledger.setHead({ usage });
    this.#ledger.countCost();
  }

  #say(record: EventRecord, level: "info" | "warning" | "error", message: string): void {
    const turn = this.#ledger.turnOf(record);
    this.#put(record, this.#ledger.name(turn, "notice"), { kind: "notice", level, message });
  }

  #put(record: EventRecord, id: string, about: Unnamed<Item>): void {
    this.#ledger.put(this.#ledger.turnOf(record), { ...about, id, ...agentOf(record) });
  }
}

type Unnamed<Kind> = Kind extends Item ? Omit<Kind, "id" | "agentId"> : never;

function closedItem(item: Item): Item | undefined {
  switch (item.kind) {
    case "text":
    case "thinking":
      return item.isDone ? undefined : { ...item, isDone: true };
    case "tool":
    case "helper":
      return item.status === "running" ? { ...item, status: "cancelled" } : undefined;
    case "question":
      return item.answer === null ? { ...item, answer: "gone" } : undefined;
    case "review":
      return item.isOpen ? { ...item, waits: true } : undefined;
    default:
      return undefined;
  }
}

/** What a turn has spent before and after it was taken up; the window is that of the last request. */
function plus(before: Usage | undefined, after: Usage | undefined): Usage | undefined {
  if (!before || !after) return after ?? before;
  const sum = (key: keyof Usage) => (before[key] ?? 0) + (after[key] ?? 0);
  const keys = ["inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens", "costUsd"] as const;
  return { ...after, ...Object.fromEntries(keys.map((key) => [key, sum(key)])) };
}
