// Numbers and times as people say them.

export function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
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
