// ReviewItems: how many changes of each file wait, are in it, and are not.

import type { Event, EventRecord, Receipt, Review } from "../protocol";
import { agentOf, type Ledger } from "./ledger";
import type { ReviewItem, Turn } from "./state";

type HunkState = Receipt["state"];
type ReviewEvent = Extract<Event, { kind: "reviewOpened" | "reviewChanged" | "reviewClosed" }>;

export class ReviewItems {
  readonly #ledger: Ledger;
  /** Of those that are open: of which file each hunk is, and what became of it. */
  readonly #hunks = new Map<string, Map<string, { uri: string; state: HunkState }>>();

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  take(record: EventRecord, event: ReviewEvent): void {
    switch (event.kind) {
      case "reviewOpened":
        this.#open(this.#ledger.turnOf(record), event.proposal, agentOf(record));
        break;
      case "reviewChanged":
        this.#change(
          event.proposalId,
          event.hunks.map((it) => [it.id, it.state ?? "pending"]),
          true,
        );
        break;
      case "reviewClosed":
        this.#change(
          event.proposalId,
          event.receipts.map((it) => [it.hunkId, it.state]),
          false,
        );
    }
  }

  /** These are the ones of this session that wait; those that are shown as open and are none of them have ended. */
  set(open: readonly Review[]): void {
    for (const turn of this.#ledger.state.turns) {
      for (const item of turn.items) {
        if (item.kind === "review" && item.isOpen && !open.some((it) => it.proposalId === item.id)) {
          this.#ledger.put(turn, { ...item, isOpen: false });
        }
      }
    }
    for (const review of open) this.#open(this.#ledger.find(review.turnId) ?? this.#ledger.aside(), review, {});
  }

  find(proposalId: string): { turn: Turn; item: ReviewItem } | undefined {
    for (const turn of this.#ledger.state.turns) {
      const item = this.#ledger.item(turn, "review", proposalId);
      if (item) return { turn, item };
    }
    return undefined;
  }

  #open(turn: Turn, review: Review, agent: { agentId?: string }): void {
    const hunks = new Map<string, { uri: string; state: HunkState }>();
    for (const file of review.files) {
      for (const hunk of file.hunks) hunks.set(hunk.id, { uri: file.uri, state: hunk.state ?? "pending" });
    }
    this.#hunks.set(review.proposalId, hunks);
    const { proposalId: id } = review;
    const before = this.find(id);
    if (before && before.turn !== turn) this.#ledger.drop(before.turn, [before.item]);
    const files = review.files.map(({ uri, operation }) => ({ uri, operation, pending: 0, accepted: 0, rejected: 0 }));
    const waits = turn.head.status !== "running";
    this.#ledger.put(turn, {
      kind: "review",
      id,
      ...agent,
      files,
      isOpen: true,
      waits,
    });
    this.#change(id, [], true);
  }

  #change(proposalId: string, states: [string, HunkState][], isOpen: boolean): void {
    const { turn, item } = this.find(proposalId) ?? {};
    const hunks = this.#hunks.get(proposalId);
    if (!turn || !item || !hunks) return;
    for (const [id, state] of states) {
      const hunk = hunks.get(id);
      if (hunk) hunk.state = state;
    }
    const here = [...hunks.values()];
    const files = item.files.map((file) => {
      const of = here.filter((it) => it.uri === file.uri);
      return {
        ...file,
        pending: of.filter((it) => it.state === "pending").length,
        accepted: of.filter(isInDocument).length,
        rejected: of.filter((it) => it.state === "rejected" || it.state === "superseded").length,
      };
    });
    this.#ledger.put(turn, { ...item, files, isOpen });
    if (isOpen) return;
    this.#hunks.delete(proposalId);
    this.#ledger.changeTurn(turn, { changed: withChanged(turn.head.changed, here) });
  }
}

/** What of it is in documents comes to those that are known to be changed. */
export function withChanged(known: string[], hunks: readonly { uri: string; state: HunkState }[]): string[] {
  return [...new Set([...known, ...hunks.filter(isInDocument).map((it) => it.uri)])];
}

function isInDocument({ state }: { state: HunkState }): boolean {
  return state === "accepted" || state === "modified";
}
