// Calls that the model is still writing, to be watched: nothing is done before a call is complete, and it may never be.

import type { ArgumentsStreamed, EventRecord } from "../protocol";
import { agentOf, type Ledger } from "./ledger";
import type { DraftItem, Turn } from "./state";
import { SHOWN_OTHERWISE } from "./tools";

const MAX_TEXT = 4_000;
/** What a call is about, by the names that tools have for it. */
const SUBJECTS = new Set(["file_path", "path", "command", "pattern", "url"]);

export class Drafts {
  readonly #ledger: Ledger;
  /** What has come of each call, by the ids of their items. */
  readonly #written = new Map<string, string>();

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  stream(record: EventRecord, { callId, name, text }: ArgumentsStreamed): void {
    if (SHOWN_OTHERWISE.has(name)) return;
    const id = `${record.turnId}/${record.agentId}/draft/${callId}`;
    const written = (this.#written.get(id) ?? "") + text;
    this.#written.set(id, written);
    this.#ledger.put(this.#ledger.turnOf(record), { kind: "draft", id, ...agentOf(record), name, ...seenIn(written) });
  }

  /** The message has ended, or comes again: its calls are told of in other ways, or not at all. */
  end(record: EventRecord): void {
    const turn = this.#ledger.find(record.turnId);
    const { agentId } = agentOf(record);
    if (turn) this.#drop(turn, (it) => it.agentId === agentId);
  }

  /** Nothing comes of what is under way in the turn. */
  forget(turn: Turn): void {
    this.#drop(turn, () => true);
  }

  #drop(turn: Turn, isMeant: (item: DraftItem) => boolean): void {
    const dropped = turn.items.filter((it): it is DraftItem => it.kind === "draft" && isMeant(it));
    for (const { id } of dropped) this.#written.delete(id);
    this.#ledger.drop(turn, dropped);
  }
}

const CHARACTER = String.raw`(?:[^"\\]|\\u[0-9a-fA-F]{4}|\\[^u])`;
const TEXT = new RegExp(String.raw`"(${CHARACTER}*)"\s*:\s*"(${CHARACTER}*)"?`, "g");

/** The texts in the JSON of a call with their names, as far as it has come: the last one may still grow. */
export function textsIn(json: string): { name: string; text: string }[] {
  return [...json.matchAll(TEXT)].map(([, name = "", value = ""]) => ({ name, text: unescaped(value) }));
}

/** What a call is about and the text that grows in it, as far as its JSON has come. */
export function seenIn(json: string): Pick<DraftItem, "subject" | "text"> {
  const texts = textsIn(json);
  const subject = texts.find((it) => SUBJECTS.has(it.name));
  const last = texts.at(-1);
  const text = last && last !== subject ? last.text : "";
  return { subject: subject?.text ?? "", text: text.slice(-MAX_TEXT) };
}

function unescaped(value: string): string {
  try {
    return JSON.parse(`"${value}"`) as string;
  } catch {
    return value;
  }
}
