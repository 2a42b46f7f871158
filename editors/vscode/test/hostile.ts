// What strangers may write into any field of what the server sends: `tests/support/hostile_wire.py` makes it from the
// types as they are.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { EventRecord, Question, Review } from "../src/protocol";

interface Values {
  texts: string[];
  events: EventRecord[];
  questions: Question[];
  reviews: Review[];
  answers: Record<string, unknown[]>;
}

const FILE = join(import.meta.dirname, "../../../tests/support/hostile.json");
/** Controls, what reorders text, what has no width, halves of characters. */
const FORBIDDEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what must not be there
  /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]|\p{Cs}|[\u{e0000}-\u{e0fff}]/u;

export function hostileValues(): Values {
  const values = JSON.parse(readFileSync(FILE, "utf8")) as Values;
  return filled(values, values.texts) as Values;
}

function filled(value: unknown, texts: readonly string[]): unknown {
  if (typeof value === "string") return /^@\d$/.test(value) ? texts[Number(value[1])] : value;
  if (Array.isArray(value)) return value.map((it) => filled(it, texts));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, it]) => [filled(name, texts) as string, filled(it, texts)]),
  );
}

export function expectHarmless(text: string, { isLine = false } = {}): void {
  const found = FORBIDDEN.exec(text) ?? (isLine ? /\n/.exec(text) : null);
  expect(found && JSON.stringify(text.slice(Math.max(0, found.index - 30), found.index + 30))).toBeNull();
}
