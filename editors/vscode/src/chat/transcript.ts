// What was said and done in one session: events in, the state of the chat and its changes out.

import type { Mode } from "../odin";
import type {
  BackgroundFinished,
  Compacted,
  Event,
  EventRecord,
  Outcome,
  Question,
  Receipt,
  Review,
  SessionSummary,
  ToolFinished,
  ToolStarted,
  TurnRecord,
} from "../protocol";
import { Changes, type Patch } from "./patches";
import {
  type ChatState,
  emptyState,
  type Head,
  type HelperItem,
  type Item,
  type QuestionItem,
  type ReviewItem,
  type TextItem,
  type ToolItem,
  type Turn,
  type TurnHead,
  type Waiting,
} from "./state";

const MAIN = "main";
/** Tools whose doing is shown otherwise: as a helper, as a list, as a question. */
const SHOWN_OTHERWISE = new Set(["AgentTool", "TodoWrite", "AskUser"]);
const MAX_PROGRESS = 20_000;
type HunkState = Receipt["state"];

export class Transcript {
  readonly state: ChatState = emptyState();
  #changes = new Changes();
  #named = 0;
  #messages = 0;
  /** Text of a reply that has not ended, and may be taken back; by turn and agent. */
  #unfinished = new Map<string, { turn: Turn; items: TextItem[] }>();
  #calls = new Map<string, { turn: Turn; item: ToolItem }>();
  #hunks = new Map<string, Map<string, { uri: string; state: HunkState }>>();

  /** A session that was stored. */
  static restored(summary: SessionSummary, records: readonly TurnRecord[]): Transcript {
    const transcript = new Transcript();
    transcript.state.head.sessionId = summary.sessionId;
    transcript.state.head.title = summary.title;
    transcript.#messages = Math.max(0, summary.messages - records.length);
    let before = "[]";
    for (const record of records) {
      // The list is the session's: it is shown where it has changed.
      const todos = JSON.stringify(record.todos);
      transcript.#restore(todos === before ? { ...record, todos: [] } : record);
      before = todos;
    }
    return transcript;
  }

  get hasChanges(): boolean {
    return !this.#changes.isEmpty;
  }

  takeChanges(): Patch[] {
    return this.#changes.take(this.state);
  }

  /** Whoever shows this one now knows nothing of it yet. */
  showAll(): void {
    this.#changes.all();
  }

  setHead(changed: Partial<Head>): void {
    Object.assign(this.state.head, changed);
    this.#changes.head();
  }

  /** The user's words, as soon as they are said. */
  begin(turnId: string, said: string, mode: Mode): void {
    this.#add({ id: turnId, said, mode, status: "running", changed: false });
    this.setHead({ running: turnId, activity: "connecting", detail: "" });
  }

  enqueue(message: Waiting): void {
    const others = this.state.head.queue.filter((it) => it.turnId !== message.turnId);
    this.setHead({ queue: [...others, message] });
  }

  unqueue(turnId: string): Waiting | undefined {
    const { queue } = this.state.head;
    const found = queue.find((it) => it.turnId === turnId);
    if (found) this.setHead({ queue: queue.filter((it) => it !== found) });
    return found;
  }

  /** The turn will not be heard of any more: its server is gone, or would not take it. */
  lose(turnId: string, why: string): void {
    const turn = this.#find(turnId);
    if (turn?.head.status !== "running") return;
    const reason = turn.head.number === undefined ? "failed" : "aborted";
    this.#close(turn, { status: "lost", reason, detail: why });
  }

  /** A turn of before that was cut off, as far as it is known. */
  addLost(turnId: string, said: string, mode: Mode, why: string, answer: string): void {
    const turn =
      this.#find(turnId) ?? this.#add({ id: turnId, said, mode, status: "lost", reason: "aborted", changed: false });
    if (turn.head.reason === "aborted") this.#changeTurn(turn, { status: "lost", detail: why });
    if (answer && !this.answerOf(turnId)) this.#addText(turn, { kind: "text", text: answer, isDone: true });
  }

  /** What was answered so far. */
  answerOf(turnId: string): string {
    const texts = this.#find(turnId)?.items.filter((it): it is TextItem => it.kind === "text" && !it.agentId) ?? [];
    return texts.map((it) => it.text).join("\n\n");
  }

  /** It was shown as running, but has to wait for another one. */
  withdraw(turnId: string): void {
    this.state.turns = this.state.turns.filter((it) => it.head.id !== turnId);
    if (this.state.head.running === turnId) this.setHead({ running: undefined });
    this.#changes.all();
  }

  isKnown(turnId: string): boolean {
    return this.#find(turnId) !== undefined;
  }

  turn(turnId: string): TurnHead | undefined {
    return this.#find(turnId)?.head;
  }

  setTurn(turnId: string, changed: Partial<TurnHead>): void {
    const turn = this.#find(turnId);
    if (turn) this.#changeTurn(turn, changed);
  }

  ask(question: Question): void {
    const turn = this.#find(this.state.head.running ?? "") ?? this.#aside();
    this.#put(turn, { kind: "question", id: `question/${question.questionId}`, question, answer: null });
  }

  isAsking(questionId: string): boolean {
    const items = this.state.turns.flatMap((it) => it.items);
    return items.some((it) => it.kind === "question" && it.question.questionId === questionId && it.answer === null);
  }

  settle(questionId: string, answer: QuestionItem["answer"]): void {
    for (const turn of this.state.turns) {
      for (const item of turn.items) {
        if (item.kind === "question" && item.question.questionId === questionId && item.answer === null) {
          item.answer = answer;
          this.#changes.item(turn, item);
        }
      }
    }
  }

  /** Where the user is in a review. */
  place(proposalId: string, position: string): void {
    const { turn, item } = this.#reviewOf(proposalId) ?? {};
    if (turn && item?.isOpen) this.#put(turn, { ...item, position });
  }

  get isReviewing(): boolean {
    return this.state.turns.some(({ items }) => items.some((it) => it.kind === "review" && it.isOpen));
  }

  /** The turn of a review. */
  turnOfReview(proposalId: string): string | undefined {
    return this.#reviewOf(proposalId)?.turn.head.id;
  }

  /** These are the reviews that wait, of all sessions; those that are shown as open and are none of them have ended. */
  setReviews(open: readonly Review[]): void {
    for (const turn of this.state.turns) {
      for (const item of turn.items) {
        if (item.kind === "review" && item.isOpen && !open.some((it) => it.proposalId === item.id)) {
          this.#put(turn, { ...item, isOpen: false });
        }
      }
    }
    for (const review of open) {
      if (review.sessionId === this.state.head.sessionId) {
        this.#openReview(this.#find(review.turnId) ?? this.#aside(), review, {});
      }
    }
  }

  notice(level: "info" | "warning" | "error", message: string, turnId = ""): void {
    this.#put(this.#find(turnId) ?? this.#aside(), { kind: "notice", id: this.#name("notice"), level, message });
  }

  take(record: EventRecord): void {
    const { event } = record;
    switch (event.kind) {
      case "turnQueued":
      case "sessionSwitchStarted":
      case "sessionRestored":
      case "questionAsked":
        break;
      case "turnStarted":
        this.#start(record, event.mode, event.model, event.text);
        break;
      case "turnFinished":
        this.#finish(event.outcome);
        break;
      case "activityChanged":
        if (record.agentId === MAIN) this.setHead({ activity: event.activity, detail: event.detail ?? "" });
        break;
      case "usageChanged":
        if (record.agentId === MAIN) this.#spend(record, event.usage);
        break;
      case "modelChanged":
        this.setHead({ model: event.running });
        if (event.running !== event.selected) {
          this.#say(record, "info", `${event.running} answers in place of ${event.selected}.`);
        }
        break;
      case "sessionRenamed":
        this.setHead({ title: event.title });
        break;
      case "questionAnswered":
        this.settle(event.questionId, "gone");
        break;
      default:
        this.#takeItem(record, event);
    }
  }

  #takeItem(record: EventRecord, event: Event): void {
    switch (event.kind) {
      case "textStreamed":
        this.#stream(record, "text", event.text);
        break;
      case "thinkingStreamed":
        this.#stream(record, "thinking", event.text);
        break;
      case "streamRolledBack":
        this.#rollBack(record);
        break;
      case "messageFinished":
        this.#finishMessage(record, event.text);
        break;
      case "toolStarted":
        if (!SHOWN_OTHERWISE.has(event.name)) this.#startTool(record, event);
        break;
      case "toolProgress":
        this.#changeTool(record, event.callId, (item) => {
          item.progress = (item.progress + event.text).slice(-MAX_PROGRESS);
        });
        break;
      case "toolFinished":
        this.#finishTool(record, event);
        break;
      case "backgroundFinished":
        this.#finishBackground(record, event);
        break;
      case "todosChanged":
        this.#put(this.#turnOf(record), {
          kind: "todos",
          id: `todos/${record.agentId}`,
          ...agentOf(record),
          todos: event.todos,
        });
        break;
      case "subagentStarted": {
        const { agentId, description, mode } = event;
        const about = { description, mode, status: "running", summary: "" } as const;
        this.#put(this.#turnOf(record), { kind: "helper", id: `helper/${agentId}`, ...agentOf(record), ...about });
        break;
      }
      case "subagentFinished": {
        const turn = this.#turnOf(record);
        const item = turn.items.find((it): it is HelperItem => it.id === `helper/${event.agentId}`);
        if (item) this.#put(turn, { ...item, status: event.status, summary: event.summary });
        break;
      }
      case "reviewOpened":
        this.#openReview(this.#turnOf(record), event.proposal, agentOf(record));
        break;
      case "reviewChanged":
        this.#changeReview(event.proposalId, event.hunks.map(hunkState), true);
        break;
      case "reviewClosed":
        this.#changeReview(event.proposalId, event.receipts.map(receiptState), false);
        break;
      case "userSpoke":
        this.#put(this.#turnOf(record), {
          kind: "spoken",
          id: this.#name("spoken"),
          ...agentOf(record),
          text: event.text,
        });
        break;
      case "compacted":
        this.#compact(record, event);
        break;
      case "notice":
        this.#say(record, event.level, event.message);
    }
  }

  #start(record: EventRecord, mode: Mode, model: string, text: string | undefined): void {
    const waited = this.unqueue(record.turnId);
    const said = text ?? waited?.body;
    const turn =
      this.#find(record.turnId) ?? this.#add({ id: record.turnId, said: "", status: "running", changed: false });
    const number = this.#messages++;
    this.#changeTurn(turn, { said: said ?? turn.head.said, mode, model, number, status: "running" });
    this.setHead({ running: record.turnId, model, detail: "" });
  }

  #finish(outcome: Outcome): void {
    this.unqueue(outcome.turnId);
    const turn = this.#find(outcome.turnId);
    if (turn?.head.status !== "running") return;
    const { reason, detail, plan, usage, durationMs } = outcome;
    const hasText = turn.items.some((it) => it.kind === "text" && !it.agentId && it.text.trim() !== "");
    if (!hasText && outcome.answer) this.#addText(turn, { kind: "text", text: outcome.answer, isDone: true });
    const changed = turn.head.changed || (outcome.receipts ?? []).some(isInDocument);
    const number = turn.head.number ?? this.#messages++;
    this.#close(turn, { status: "ended", reason, detail, plan, usage, durationMs, changed, number });
  }

  /** Nothing of the turn goes on: no text, no tool, no question. */
  #close(turn: Turn, changed: Partial<TurnHead>): void {
    for (const item of turn.items) {
      if ((item.kind === "text" || item.kind === "thinking") && !item.isDone) item.isDone = true;
      else if (item.kind === "tool" && item.status === "running") item.status = "cancelled";
      else if (item.kind === "helper" && item.status === "running") item.status = "cancelled";
      else if (item.kind === "question" && item.answer === null) item.answer = "gone";
      else if (item.kind === "review" && item.isOpen) item.waits = true;
      else continue;
      this.#changes.item(turn, item);
    }
    for (const [key, open] of this.#unfinished) if (open.turn === turn) this.#unfinished.delete(key);
    this.#changeTurn(turn, changed);
    if (this.state.head.running === turn.head.id) {
      this.setHead({ running: undefined, activity: "idle", detail: "" });
    }
    this.#countCost();
  }

  #spend(record: EventRecord, usage: NonNullable<Outcome["usage"]>): void {
    const turn = this.#find(record.turnId);
    if (turn) this.#changeTurn(turn, { usage });
    this.setHead({ usage });
    this.#countCost();
  }

  #countCost(): void {
    const costs = this.state.turns.map((it) => it.head.usage?.costUsd ?? 0);
    this.setHead({ costUsd: costs.reduce((sum, cost) => sum + cost, 0) });
  }

  #stream(record: EventRecord, kind: "text" | "thinking", text: string): void {
    const { turn, items } = this.#unfinishedOf(record);
    let item = items.at(-1);
    if (item?.kind !== kind) {
      if (item) this.#finishText(turn, item);
      item = this.#addText(turn, { kind, text: "", isDone: false, ...agentOf(record) });
      items.push(item);
    }
    this.#changes.grows(turn, item);
    item.text += text;
  }

  #rollBack(record: EventRecord): void {
    const { turn, items } = this.#unfinishedOf(record);
    for (const item of items) this.#changes.dropped(turn, item);
    turn.items = turn.items.filter((it) => !items.some((item) => item === it));
    this.#unfinished.delete(streamKey(record));
  }

  #finishMessage(record: EventRecord, text: string): void {
    const { turn, items } = this.#unfinishedOf(record);
    for (const item of items) this.#finishText(turn, item);
    if (text && !items.some((it) => it.kind === "text")) {
      this.#addText(turn, { kind: "text", text, isDone: true, ...agentOf(record) });
    }
    this.#unfinished.delete(streamKey(record));
  }

  #finishText(turn: Turn, item: TextItem): void {
    item.isDone = true;
    this.#changes.item(turn, item);
  }

  #addText(turn: Turn, about: Omit<TextItem, "id">): TextItem {
    const item: TextItem = { id: this.#name("text"), ...about };
    this.#put(turn, item);
    return item;
  }

  #startTool(record: EventRecord, event: ToolStarted): void {
    const item: ToolItem = {
      kind: "tool",
      id: this.#name("tool"),
      ...agentOf(record),
      name: event.name,
      title: event.description,
      result: "",
      ...(typeof event.arguments.command === "string" ? { command: event.arguments.command } : {}),
      status: "running",
      progress: "",
      files: [],
      added: 0,
      removed: 0,
    };
    const turn = this.#turnOf(record);
    this.#calls.set(callKey(record, event.callId), { turn, item });
    this.#put(turn, item);
  }

  #finishTool(record: EventRecord, event: ToolFinished): void {
    if (!this.#calls.has(callKey(record, event.callId))) {
      if (SHOWN_OTHERWISE.has(event.name) && event.status !== "error") return;
      this.#startTool(record, { ...event, kind: "toolStarted", arguments: {} });
    }
    this.#changeTool(record, event.callId, (item) => {
      item.status = event.status;
      item.result = event.description;
      item.files = event.files ?? [];
      item.added = event.added ?? 0;
      item.removed = event.removed ?? 0;
      if (event.diff !== undefined) item.diff = event.diff;
      if (event.durationMs !== undefined) item.durationMs = event.durationMs;
    });
  }

  #finishBackground(record: EventRecord, event: BackgroundFinished): void {
    const failed = event.status === "failed" || (event.exitCode ?? 0) !== 0;
    this.#changeTool(record, event.callId, (item) => {
      item.status = failed ? "error" : "success";
      item.result = event.message;
    });
  }

  #changeTool(record: EventRecord, callId: string, change: (item: ToolItem) => void): void {
    const call = this.#calls.get(callKey(record, callId));
    if (!call) return;
    change(call.item);
    this.#changes.item(call.turn, call.item);
  }

  #openReview(turn: Turn, review: Review, agent: { agentId?: string }): void {
    const hunks = new Map<string, { uri: string; state: HunkState }>();
    for (const file of review.files) {
      for (const hunk of file.hunks) hunks.set(hunk.id, { uri: file.uri, state: hunk.state ?? "pending" });
    }
    this.#hunks.set(review.proposalId, hunks);
    const files = review.files.map(({ uri, operation }) => ({ uri, operation, pending: 0, accepted: 0, rejected: 0 }));
    const waits = turn.head.status !== "running";
    const { position } = this.#reviewOf(review.proposalId)?.item ?? {};
    this.#put(turn, { kind: "review", id: review.proposalId, ...agent, files, isOpen: true, waits, position });
    this.#changeReview(review.proposalId, [], true);
  }

  #changeReview(proposalId: string, states: [string, HunkState][], isOpen: boolean): void {
    const { turn, item } = this.#reviewOf(proposalId) ?? {};
    const hunks = this.#hunks.get(proposalId);
    if (!turn || !item || !hunks) return;
    for (const [id, state] of states) {
      const hunk = hunks.get(id);
      if (hunk) hunk.state = state;
    }
    const here = [...hunks.values()];
    const files = item.files.map((file) => {
      const of = here.filter((it) => it.uri === file.uri);
      return {
        ...file,
        pending: of.filter((it) => it.state === "pending").length,
        accepted: of.filter(isInDocument).length,
        rejected: of.filter((it) => it.state === "rejected" || it.state === "superseded").length,
      };
    });
    this.#put(turn, { ...item, files, isOpen });
    if (isOpen) return;
    this.#hunks.delete(proposalId);
    if (here.some(isInDocument)) this.#changeTurn(turn, { changed: true });
  }

  #reviewOf(proposalId: string): { turn: Turn; item: ReviewItem } | undefined {
    for (const turn of this.state.turns) {
      const item = turn.items.find((it): it is ReviewItem => it.kind === "review" && it.id === proposalId);
      if (item) return { turn, item };
    }
    return undefined;
  }

  #compact(record: EventRecord, event: Compacted): void {
    if (event.status === "succeeded") {
      const tokens = (count: number) => count.toLocaleString("en");
      const message = `Earlier parts were summarised: ${tokens(event.before)} → ${tokens(event.after)} tokens.`;
      this.#say(record, "info", message);
    } else if (event.status === "failed") {
      this.#say(record, "warning", "Earlier parts could not be summarised.");
    }
  }

  #say(record: EventRecord, level: "info" | "warning" | "error", message: string): void {
    const turn = record.turnId ? this.#turnOf(record) : this.#aside();
    this.#put(turn, { kind: "notice", id: this.#name("notice"), ...agentOf(record), level, message });
  }

  #restore(record: TurnRecord): void {
    const { turnId: id, body: said, mode, reason, usage } = record;
    const number = this.#messages++;
    const turn = this.#add({ id, said, mode, reason, usage, number, status: "ended", changed: false });
    for (const tool of record.toolHistory) {
      this.#put(turn, {
        kind: "tool",
        id: this.#name("tool"),
        name: tool.name,
        title: "",
        result: tool.description,
        status: tool.status,
        files: tool.affectedFiles,
        progress: "",
        added: tool.added ?? 0,
        removed: tool.removed ?? 0,
      });
    }
    const reviewed = record.reviewed ?? [];
    if (reviewed.length > 0) {
      const files = reviewed.map((it) => ({ ...it, operation: "edit", pending: 0 }));
      this.#put(turn, { kind: "review", id: this.#name("review"), files, isOpen: false });
    }
    if (record.todos.length > 0) this.#put(turn, { kind: "todos", id: `todos/${MAIN}`, todos: record.todos });
    if (record.answerSummary) this.#addText(turn, { kind: "text", text: record.answerSummary, isDone: true });
    this.setHead({ usage });
    this.#countCost();
  }

  #unfinishedOf(record: EventRecord): { turn: Turn; items: TextItem[] } {
    const key = streamKey(record);
    const known = this.#unfinished.get(key) ?? { turn: this.#turnOf(record), items: [] };
    this.#unfinished.set(key, known);
    return known;
  }

  #find(turnId: string): Turn | undefined {
    return this.state.turns.findLast((it) => it.head.id === turnId);
  }

  #turnOf(record: EventRecord): Turn {
    if (!record.turnId) return this.#aside();
    return this.#find(record.turnId) ?? this.#add({ id: record.turnId, said: "", status: "running", changed: false });
  }

  /** The place for what belongs to no turn. */
  #aside(): Turn {
    const last = this.state.turns.at(-1);
    if (last?.head.id.startsWith("aside/")) return last;
    return this.#add({ id: this.#name("aside"), said: "", status: "ended", changed: false });
  }

  #add(head: TurnHead): Turn {
    const turn: Turn = { head, items: [] };
    this.state.turns.push(turn);
    this.#changes.turn(turn);
    return turn;
  }

  #changeTurn(turn: Turn, changed: Partial<TurnHead>): void {
    turn.head = { ...turn.head, ...changed };
    this.#changes.turn(turn);
  }

  #put(turn: Turn, item: Item): void {
    const index = turn.items.findIndex((it) => it.id === item.id);
    if (index < 0) turn.items.push(item);
    else turn.items[index] = item;
    this.#changes.item(turn, item);
  }

  #name(kind: string): string {
    this.#named += 1;
    return `${kind}/${this.#named}`;
  }
}

function agentOf(record: EventRecord): { agentId?: string } {
  return record.agentId === MAIN ? {} : { agentId: record.agentId };
}

function streamKey(record: EventRecord): string {
  return `${record.turnId}/${record.agentId}`;
}

function callKey(record: EventRecord, callId: string): string {
  return `${streamKey(record)}/${callId}`;
}

function hunkState(hunk: { id: string; state?: HunkState }): [string, HunkState] {
  return [hunk.id, hunk.state ?? "pending"];
}

function receiptState(receipt: Receipt): [string, HunkState] {
  return [receipt.hunkId, receipt.state];
}

function isInDocument({ state }: { state: HunkState }): boolean {
  return state === "accepted" || state === "modified";
}
