// What the user decides, told to the server: with a command, or as the answer to its request.

import type { CancellationToken } from "vscode";
import { t } from "../l10n";
import type { Odin } from "../odin";
import type { Decision, Review, ReviewAnswer } from "../protocol";
import { nameOf } from "../session/reviews";
import { wordsOf } from "../words";
import type { ShownFiles } from "./files";
import type { Chosen } from "./shown";

export class Decisions {
  readonly #waiting = new Map<string, (answer: ReviewAnswer | null) => void>();
  #isInEditor = false;
  #latest: ReadonlySet<string> = new Set();

  constructor(
    private readonly odin: Pick<Odin, "execute">,
    private readonly reviews: Iterable<Review>,
    private readonly files: Pick<ShownFiles, "pending">,
    private readonly tellError: (why: string) => void,
  ) {}

  /** The last decision was made in an editor: that is where the user goes on. */
  get isInEditor(): boolean {
    return this.#isInEditor;
  }

  /** The hunks that were decided last. */
  get latest(): ReadonlySet<string> {
    return this.#latest;
  }

  /** Hold the server's request until the review is decided, in whatever way. */
  hold(proposalId: string, token: CancellationToken): Promise<ReviewAnswer | null> {
    return new Promise((resolve) => {
      this.#waiting.set(proposalId, resolve);
      token.onCancellationRequested(() => this.release(proposalId));
    });
  }

  /** There is nothing left to say to the server's request. */
  release(proposalId: string): void {
    this.#answer(proposalId, null);
  }

  /** The server is gone, and with it its requests. */
  releaseAll(): void {
    for (const proposalId of [...this.#waiting.keys()]) {
      this.release(proposalId);
    }
  }

  /** Accept as it stands on the screen, with what the user has changed there. */
  async accept(chosen: readonly Chosen[], isInEditor = false): Promise<void> {
    this.#isInEditor = isInEditor;
    const decisions = await decisionsOn(chosen);
    const rejected = decisions.filter((it) => it.decision === "reject").map((it) => it.hunkId);
    const accepted = decisions.filter((it) => it.decision !== "reject");
    const texts = Object.fromEntries(accepted.flatMap((it) => (it.text === undefined ? [] : [[it.hunkId, it.text]])));
    await this.#tell(chosen, async () => {
      if (rejected.length > 0) {
        await this.odin.execute("odin.review.reject", { hunkIds: rejected });
      }
      if (accepted.length > 0) {
        await this.odin.execute("odin.review.accept", { hunkIds: accepted.map((it) => it.hunkId), texts });
      }
    });
  }

  async reject(chosen: readonly Chosen[], reason?: string, isInEditor = false): Promise<void> {
    this.#isInEditor = isInEditor;
    for (const { shown, hunk } of chosen) {
      shown.texts.own.settle([hunk.id]);
    }
    const hunkIds = chosen.map((it) => it.hunk.id);
    await this.#tell(chosen, () => this.odin.execute("odin.review.reject", { hunkIds, reason: reason || undefined }));
  }

  /** Have these pending again. What somebody has typed into since stays as it is. */
  async reopen(chosen: readonly Chosen[], isInEditor = false): Promise<void> {
    this.#isInEditor = isInEditor;
    const hunkIds = chosen.map((it) => it.hunk.id);
    await this.#tell([], async () => {
      const { receipts } = await this.odin.execute("odin.review.reopen", { hunkIds });
      const [kept] = receipts.filter((it) => it.state !== "pending" && it.reason);
      if (kept) {
        this.tellError(t("{0} is unchanged: {1}.", nameOf(kept.uri), kept.reason ?? ""));
      }
    });
  }

  /** Accept what is pending, and all that its turns still propose. */
  async acceptRest(): Promise<void> {
    for (const review of [...this.reviews]) {
      const chosen = this.files.pending.filter((it) => it.shown.review === review);
      if (this.#waiting.has(review.proposalId)) {
        this.#answer(review.proposalId, { decisions: await decisionsOn(chosen), restOfTurn: "accept" });
      } else {
        await this.accept(chosen);
      }
    }
  }

  #answer(proposalId: string, answer: ReviewAnswer | null): void {
    this.#waiting.get(proposalId)?.(answer);
    this.#waiting.delete(proposalId);
  }

  async #tell(chosen: readonly Chosen[], tell: () => Promise<unknown>): Promise<void> {
    try {
      await tell();
      this.#latest = new Set(chosen.map((it) => it.hunk.id));
    } catch (error) {
      for (const { shown, hunk } of chosen) {
        shown.texts.own.unsettle([hunk.id]);
      }
      this.tellError(wordsOf(error));
    }
  }
}

async function decisionsOn(chosen: readonly Chosen[]): Promise<Decision[]> {
  await Promise.all(chosen.map((it) => it.shown.texts.arrived()));
  return chosen.map(({ shown, hunk }) => ({ hunkId: hunk.id, ...shown.texts.decide(hunk.id) }));
}
