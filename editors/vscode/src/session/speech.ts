// What a model says and thinks. While a message is under way it grows; in the end it is what `messageFinished` says.

import type { EventRecord, MessageFinished } from "../protocol";
import { agentOf, type Ledger } from "./ledger";
import type { Item, TextItem, Turn } from "./state";

type Kind = TextItem["kind"];

export class Speech {
  readonly #ledger: Ledger;
  /** Messages that have ended, by turn and agent. */
  readonly #ended = new Map<string, number>();
  /** The pieces that are under way, by their ids. */
  readonly #open = new Set<string>();

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  stream(record: EventRecord, kind: Kind, text: string): void {
    const turn = this.#ledger.turnOf(record);
    for (const other of this.#underWay(turn, record)) {
      if (other.kind !== kind && !other.isDone) this.#ledger.put(turn, { ...other, isDone: true });
    }
    const id = this.#idOf(record, kind);
    this.#open.add(id);
    const known = this.#ledger.item(turn, kind, id);
    if (!known || known.isDone) {
      this.#ledger.put(turn, { kind, id, ...agentOf(record), text: (known?.text ?? "") + text, isDone: false });
    } else {
      this.#ledger.grows(turn, known);
      known.text += text;
    }
  }

  rollBack(record: EventRecord): void {
    const turn = this.#ledger.find(record.turnId);
    if (turn) this.#drop(turn, this.#underWay(turn, record));
  }

  /** All of a message, in the place where it has ended. */
  finish(record: EventRecord, { text, thinking = "", thinkingMs = 0 }: MessageFinished): void {
    const turn = this.#ledger.turnOf(record);
    const thought = this.#whole(record, "thinking", thinking);
    if (thinkingMs > 0) thought.durationMs = thinkingMs;
    const said = [thought, this.#whole(record, "text", text)].filter((it) => it.text);
    const shown = this.#underWay(turn, record);
    const last = turn.items.slice(-said.length || turn.items.length);
    const isInPlace = shown.length === said.length && said.every((it, index) => it.id === last[index]?.id);
    if (!isInPlace) this.#drop(turn, shown);
    for (const item of said) {
      this.#open.delete(item.id);
      this.#ledger.put(turn, item);
    }
    if (said.length > 0) this.#ended.set(keyOf(record), this.#endedOf(record) + 1);
  }

  /** Nothing comes of what is under way in the turn. */
  forget(turn: Turn): void {
    const unfinished = turn.items.filter((it) => this.#open.has(it.id));
    this.#drop(turn, unfinished);
  }

  #drop(turn: Turn, items: readonly Item[]): void {
    for (const item of items) this.#open.delete(item.id);
    this.#ledger.drop(turn, items);
  }

  #whole(record: EventRecord, kind: Kind, text: string): TextItem {
    return { kind, id: this.#idOf(record, kind), ...agentOf(record), text, isDone: true };
  }

  #underWay(turn: Turn, record: EventRecord): TextItem[] {
    const ids = [this.#idOf(record, "thinking"), this.#idOf(record, "text")];
    return turn.items.filter((it): it is TextItem => ids.includes(it.id));
  }

  #idOf(record: EventRecord, kind: Kind): string {
    return `${keyOf(record)}/${kind}/${this.#endedOf(record)}`;
  }

  #endedOf(record: EventRecord): number {
    return this.#ended.get(keyOf(record)) ?? 0;
  }
}

function keyOf({ turnId, agentId }: EventRecord): string {
  return `${turnId}/${agentId}`;
}
