// An edit that was asked for at a place in the text: how far it is, from the events of its turn.

import { t } from "../l10n";
import type { EventRecord, Outcome, Review, ReviewHunk } from "../protocol";
import { MAIN } from "../session/ledger";
import { decoded, isInDocument, pendingIn } from "../session/reviews";
import { editsIn, type Writing } from "./writing";

/** `deciding`: a proposal waits for the user. `over`: there is nothing left but an answer to read. */
export type Phase = "working" | "deciding" | "over" | "closed";

export class InlineEdit {
  /** What Odin is doing, in words. */
  doing = waiting();
  /** What the model writes right now. */
  writing: readonly Writing[] = [];
  outcome: Outcome | undefined;
  readonly #written = new Map<string, string>();
  #review: Review | undefined;
  #isOver = false;
  #isClosed = false;

  constructor(
    readonly turnId: string,
    /** The document that it is about. */
    readonly uri: string,
  ) {}

  get phase(): Phase {
    if (this.#isClosed) return "closed";
    if (this.pending.length > 0) return "deciding";
    return this.#isOver ? "over" : "working";
  }

  /** What waits for the user. */
  get pending(): readonly ReviewHunk[] {
    return this.#review?.files.flatMap(pendingIn) ?? [];
  }

  get proposalId(): string | undefined {
    return this.#review?.proposalId;
  }

  /** Whether all of a proposal can be decided where it was asked for. */
  canShow({ turnId, files }: Review): boolean {
    const isHere = files.every((it) => sameFile(it.uri, this.uri) && it.operation === "edit");
    return turnId === this.turnId && isHere && !this.#isClosed;
  }

  /** It is followed from now on: as it is decided, it changes. */
  propose(review: Review): void {
    this.#review = review;
  }

  /** The proposal is decided. Who said what should be different waits for another one. */
  settle(review: Review, goesOn: boolean): void {
    if (review !== this.#review) return;
    this.#review = undefined;
    this.#isClosed = !goesOn;
  }

  /** `false` if nothing is to be seen of it. */
  take({ turnId, agentId, event }: EventRecord): boolean {
    if (turnId !== this.turnId || agentId !== MAIN) return false;
    switch (event.kind) {
      case "turnQueued":
        this.doing = t("Waiting for the running turn to end.");
        return true;
      case "turnStarted":
      case "questionAnswered":
        this.doing = waiting();
        return true;
      case "toolStarted":
        this.doing = `${event.description}…`;
        return true;
      case "toolFinished":
      case "streamRolledBack":
        this.doing = waiting();
        this.#forget();
        return true;
      case "questionAsked":
        this.doing = t("Odin has a question for you in the chat.");
        return true;
      case "reviewOpened":
        if (!this.canShow(event.proposal))
          this.doing = t("Odin proposes changes in other files. Review them in their diffs.");
        return true;
      case "argumentsStreamed": {
        const json = (this.#written.get(event.callId) ?? "") + event.text;
        this.#written.set(event.callId, json);
        this.writing = [...this.#written.values()].flatMap(editsIn);
        return true;
      }
      case "turnFinished":
        this.finish(event.outcome);
        return true;
      default:
        return false;
    }
  }

  /** The turn is over; without an outcome it could not be taken. Of what is in the text there is nothing to say. */
  finish(outcome: Outcome | undefined): void {
    this.#forget();
    this.outcome = outcome;
    this.#isOver = true;
    const isDone = outcome?.reason === "interrupted" || outcome?.receipts?.some(isInDocument);
    if (isDone && this.pending.length === 0) this.#isClosed = true;
  }

  #forget(): void {
    this.#written.clear();
    this.writing = [];
  }
}

function waiting(): string {
  return t("Waiting for the model…");
}

/** The server and VS Code escape different characters. */
function sameFile(one: string, two: string): boolean {
  return decoded(one) === decoded(two);
}
