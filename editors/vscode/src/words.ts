// Modes, numbers, times and failures as people say them.

import { spoken, t } from "./l10n";
import type { Mode } from "./odin";
import type { ActivityChanged } from "./protocol";

export function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export function modeName(mode: Mode): string {
  return { ask_mode: t("Ask"), plan_mode: t("Plan"), edit_mode: t("Edit") }[mode];
}

/** What Odin is doing; nothing if it is idle. */
export function activityName(activity: ActivityChanged["activity"]): string {
  return {
    idle: "",
    connecting: t("Connecting"),
    waiting_headers: t("Waiting for the model"),
    waiting_token: t("Waiting for the model"),
    streaming: t("Writing"),
    executing: t("Working"),
    compacting: t("Compacting the session"),
    retrying: t("Trying again"),
    retrying_key: t("Trying another API key"),
    cooling: t("Waiting for the provider"),
    verifying: t("Checking"),
  }[activity];
}

/** Counted from 1. */
export function linesOf(first: number, last: number, file: string): string {
  return first === last ? t("line {0} of {1}", first, file) : t("lines {0}–{1} of {2}", first, last, file);
}

/** `12.3K`. */
export function short(count: number): string {
  return Intl.NumberFormat(spoken().language, { notation: "compact", maximumFractionDigits: 1 }).format(count);
}

/** `3.2 s`, `45 s`. */
export function secondsOf(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(milliseconds < 10_000 ? 1 : 0)} s`;
}

/** `$0.0123`, `$4.56`; nothing for nothing. */
export function moneyOf(dollars: number | undefined): string {
  if (!dollars || dollars < 0) return "";
  return dollars < 0.0001 ? "<$0.0001" : `$${dollars.toFixed(dollars < 0.1 ? 4 : 2)}`;
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
  if (!unit) return t("just now");
  return new Intl.RelativeTimeFormat(spoken().language).format(-Math.floor(since / size), unit);
}
