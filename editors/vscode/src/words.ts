// Numbers, times and failures as people say them.

export function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

/** Counted from 1. */
export function linesOf(first: number, last: number): string {
  return first === last ? `line ${first}` : `lines ${first}–${last}`;
}

/** `12.3K`. */
export function short(count: number): string {
  return Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 }).format(count);
}

/** `3.2 s`, `45 s`. */
export function secondsOf(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(milliseconds < 10_000 ? 1 : 0)} s`;
}

const UNITS = [
  ["year", 365 * 86_400],
  ["month", 30 * 86_400],
  ["week", 7 * 86_400],
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
] as const;

/** `seconds` are those of the epoch. */
export function ago(seconds: number, now = Date.now() / 1000): string {
  const since = now - seconds;
  const [unit, size] = UNITS.find(([, length]) => since >= length) ?? [];
  return unit ? `${counted(Math.floor(since / size), unit)} ago` : "just now";
}
