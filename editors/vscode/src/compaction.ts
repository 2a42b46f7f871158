// How a compaction that the user has asked for has ended.

import type { Disposable } from "vscode";
import { numberOf, t } from "./l10n";
import type { Odin } from "./odin";
import type { CompactResult } from "./protocol";

/** Whether somebody cancels the compaction of a turn, or the turn; the result does not tell. */
export class CompactionWatch implements Disposable {
  isCancelled = false;
  readonly #subscription: Disposable;

  constructor(odin: Pick<Odin, "onEvent">, turnId: string) {
    this.#subscription = odin.onEvent((record) => {
      const { event } = record;
      if (record.turnId !== turnId) return;
      const isStopped = event.kind === "turnFinished" && event.outcome.reason === "interrupted";
      if (isStopped || (event.kind === "compacted" && event.status === "cancelled")) this.isCancelled = true;
    });
  }

  dispose(): void {
    this.#subscription.dispose();
  }
}

export function compactedWords({ before, after }: CompactResult, isCancelled: boolean): string {
  if (isCancelled) return t("Odin: Compaction canceled. The session is unchanged.");
  if (after >= before) return t("Odin: The session cannot be compacted further.");
  return t("Odin: Compacted the session from {0} to {1} tokens.", numberOf(before), numberOf(after));
}
