// The state of the chat while it is written: turns and their items are found, added and changed here, and nowhere else.

import type { EventRecord } from "../protocol";
import { Changes, type Patch } from "./patches";
import { type ChatState, emptyState, type Head, type Item, type Turn, type TurnHead } from "./state";

export const MAIN = "main";

export class Ledger {
  readonly state: ChatState = emptyState();
  /** The user's messages that came before the first of the turns. */
  #earlierTurns = 0;
  /** Dollars that were spent besides the turns. */
  #spentBesides = 0;
  #changes = new Changes();

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

  /** Begin anew, after as many messages of the user. */
  clear(earlierTurns: number): void {
    this.#earlierTurns = earlierTurns;
    this.#spentBesides = 0;
    this.state.turns = [];
    this.#changes.all();
  }

  setHead(changed: Partial<Head>): void {
    Object.assign(this.state.head, changed);
    this.#changes.head();
  }

  find(turnId: string): Turn | undefined {
    return this.state.turns.findLast((it) => it.head.id === turnId);
  }

  /** The turn that an event belongs to, which may begin with it. */
  turnOf({ turnId }: EventRecord): Turn {
    if (!turnId) return this.aside();
    return this.find(turnId) ?? this.add({ id: turnId, said: "", status: "running", number: this.next, changed: [] });
  }

  /** The place for what belongs to no turn. */
  aside(): Turn {
    const last = this.state.turns.at(-1);
    if (last && isAside(last)) return last;
    return this.add({ id: `aside/${last?.head.id ?? ""}`, said: "", status: "ended", changed: [] });
  }

  add(head: TurnHead): Turn {
    const turn: Turn = { head, items: [] };
    this.state.turns.push(turn);
    this.#changes.turn(turn);
    return turn;
  }

  remove(turn: Turn): void {
    this.state.turns = this.state.turns.filter((it) => it !== turn);
    this.#changes.all();
  }

  changeTurn(turn: Turn, changed: Partial<TurnHead>): void {
    turn.head = { ...turn.head, ...changed };
    this.#changes.turn(turn);
  }

  /** What the session has cost in all, if that is known. */
  countCost(total?: number): void {
    const ofTurns = this.state.turns.reduce((sum, { head }) => sum + (head.usage?.costUsd ?? 0), 0);
    if (total !== undefined) this.#spentBesides = Math.max(0, total - ofTurns);
    this.setHead({ costUsd: ofTurns + this.#spentBesides });
  }

  /** Which of the user's messages the next one is. */
  get next(): number {
    return this.#earlierTurns + this.state.turns.filter((it) => it.head.number !== undefined).length;
  }

  item<Kind extends Item["kind"]>(turn: Turn, kind: Kind, id: string): Extract<Item, { kind: Kind }> | undefined {
    return turn.items.find((it): it is Extract<Item, { kind: Kind }> => it.kind === kind && it.id === id);
  }

  put(turn: Turn, item: Item): void {
    const index = turn.items.findIndex((it) => it.id === item.id);
    if (index < 0) turn.items.push(item);
    else turn.items[index] = item;
    this.#changes.item(turn, item);
  }

  /** To be called before its text grows. */
  grows(turn: Turn, item: Item & { text: string }): void {
    this.#changes.grows(turn, item);
  }

  drop(turn: Turn, items: readonly Item[]): void {
    if (items.length === 0) return;
    for (const item of items) this.#changes.dropped(turn, item);
    turn.items = turn.items.filter((it) => !items.includes(it));
  }

  /** A name for the next piece of a kind that comes once. */
  name(turn: Turn, kind: Item["kind"]): string {
    return `${turn.head.id}/${kind}/${turn.items.filter((it) => it.kind === kind).length}`;
  }
}

export function isAside(turn: Turn): boolean {
  return turn.head.id.startsWith("aside/");
}

/** Whose an event is, if it is a helper's. */
export function agentOf({ agentId }: EventRecord): { agentId?: string } {
  return agentId === MAIN ? {} : { agentId };
}
