// Which proposals wait for a decision, as the server tells it, and how they are put into words.

import type { Review, ReviewChanged, ReviewFile, ReviewHunk } from "../protocol";
import { counted } from "../words";

export interface Pending {
  review: Review;
  file: ReviewFile;
  hunk: ReviewHunk;
}

export class Reviews {
  readonly #open = new Map<string, Review>();

  [Symbol.iterator](): Iterator<Review> {
    return this.#open.values();
  }

  /** As it will be followed; `undefined` if it is open already. */
  open(proposed: Review): Review | undefined {
    if (this.#open.has(proposed.proposalId)) {
      return undefined;
    }
    const review = structuredClone(proposed);
    this.#open.set(review.proposalId, review);
    return review;
  }

  /** Hunks have moved or were decided. */
  change({ proposalId, hunks }: ReviewChanged): Review | undefined {
    const review = this.#open.get(proposalId);
    const byId = new Map(hunks.map((hunk) => [hunk.id, hunk]));
    for (const file of review?.files ?? []) {
      file.hunks = file.hunks.map((hunk) => byId.get(hunk.id) ?? hunk);
    }
    return review;
  }

  close(proposalId: string): Review | undefined {
    const review = this.#open.get(proposalId);
    this.#open.delete(proposalId);
    return review;
  }

  /** Not decided yet, in the order in which they are shown. */
  get pending(): Pending[] {
    return [...this.#open.values()].flatMap((review) =>
      review.files.flatMap((file) => pendingIn(file).map((hunk) => ({ review, file, hunk }))),
    );
  }
}

export function isPending(hunk: ReviewHunk): boolean {
  return (hunk.state ?? "pending") === "pending";
}

/** Whether it was accepted, with its own text or the user's. */
export function isInDocument({ state }: Pick<ReviewHunk, "state">): boolean {
  return state === "accepted" || state === "modified";
}

/** Whether it is decided, and can be open again. */
export function isDecided(hunk: ReviewHunk): boolean {
  return isInDocument(hunk) || hunk.state === "rejected";
}

export function decisionOn({ state }: ReviewHunk): string {
  return { accepted: "Accepted", modified: "Accepted with your text", rejected: "Rejected" }[state as string] ?? "";
}

export function pendingIn(file: ReviewFile): ReviewHunk[] {
  return file.hunks.filter(isPending);
}

export function summary(pending: readonly Pending[]): string {
  const files = new Set(pending.map((it) => it.file));
  const changes = counted(pending.length, "change");
  return files.size > 1 ? `${changes} in ${counted(files.size, "file")}` : changes;
}

export function nameOf(uri: string): string {
  const path = decodeURIComponent(uri.replace(/^[a-z][a-z\d+.-]*:/i, "").replace(/[?#].*$/, ""));
  return path.slice(path.lastIndexOf("/") + 1) || path;
}

export function titleOf(file: ReviewFile): string {
  const name = nameOf(file.uri);
  switch (file.operation) {
    case "create":
      return `${name} (Odin: new file)`;
    case "delete":
      return `${name} (Odin: delete)`;
    case "rename":
      return `${name} → ${nameOf(file.newUri ?? file.uri)} (Odin: rename)`;
    default:
      return `${name} (Odin)`;
  }
}

/** Lines that come and go, as in a diff. */
export function sizeOf(hunks: readonly ReviewHunk[]): string {
  const sum = (text: (hunk: ReviewHunk) => string) => hunks.reduce((total, it) => total + linesIn(text(it)), 0);
  const [added, removed] = [sum((it) => it.newText), sum((it) => it.oldText)];
  return [added && `+${added}`, removed && `−${removed}`].filter((it) => it).join(" ");
}

function linesIn(text: string): number {
  return text ? text.split("\n").length - (text.endsWith("\n") ? 1 : 0) : 0;
}

/** One line of it, without what VS Code would take for an icon. */
export function oneLine(text: string, most = 80): string {
  const line = text.replace(/\s+/g, " ").replaceAll("$(", "$ (").trim();
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
}
