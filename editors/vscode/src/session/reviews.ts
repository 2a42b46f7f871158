// Which proposals wait for a decision, as the server tells it, and how they are put into words.

import type { Event } from "vscode";
import { readableLine, withoutIcons } from "../chat/text";
import { Emitter } from "../emitter";
import { t, tn } from "../l10n";
import type { Receipt, Review, ReviewChanged, ReviewFile, ReviewHunk } from "../protocol";

export interface Pending {
  review: Review;
  file: ReviewFile;
  hunk: ReviewHunk;
}

/** What has become of one that is open. */
export type ReviewNews =
  | { kind: "changed"; review: Review; event: ReviewChanged; isTextLost: boolean }
  | { kind: "closed"; review: Review; receipts: readonly Receipt[] };

export class OpenReviews {
  readonly #open = new Map<string, Review>();
  readonly #news = new Emitter<ReviewNews>();
  readonly onDidHear: Event<ReviewNews> = this.#news.event;

  get size(): number {
    return this.#open.size;
  }

  [Symbol.iterator](): Iterator<Review> {
    return this.#open.values();
  }

  /** As it is followed from now on, or was already. */
  open(proposed: Review): Review {
    const review = this.#open.get(proposed.proposalId) ?? structuredClone(proposed);
    this.#open.set(review.proposalId, review);
    return review;
  }

  /** Hunks have moved or were decided. */
  change(event: ReviewChanged): void {
    const review = this.#open.get(event.proposalId);
    if (!review) {
      return;
    }
    const byId = new Map(event.hunks.map((hunk) => [hunk.id, hunk]));
    let isTextLost = false;
    for (const file of review.files) {
      isTextLost ||= pendingIn(file).some((it) => byId.get(it.id)?.state === "superseded");
      file.hunks = file.hunks.map((hunk) => byId.get(hunk.id) ?? hunk);
    }
    this.#news.fire({ kind: "changed", review, event, isTextLost });
  }

  close(proposalId: string, receipts: readonly Receipt[] = []): void {
    const review = this.#open.get(proposalId);
    this.#open.delete(proposalId);
    if (review) {
      this.#news.fire({ kind: "closed", review, receipts });
    }
  }

  /** These are the ones that wait: others have ended, and what is known of these may be old. */
  set(open: readonly Review[]): void {
    for (const proposalId of [...this.#open.keys()].filter((id) => !open.some((it) => it.proposalId === id))) {
      this.close(proposalId);
    }
    for (const review of open) {
      const { proposalId, files } = review;
      if (this.#open.has(proposalId)) {
        const versions = Object.fromEntries(files.map((it) => [it.uri, it.version]));
        this.change({ kind: "reviewChanged", proposalId, hunks: files.flatMap((it) => it.hunks), versions });
      } else {
        this.open(review);
      }
    }
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
  const names = { accepted: t("Accepted"), modified: t("Accepted with your text"), rejected: t("Rejected") };
  return { ...names, pending: "", superseded: "" }[state ?? "pending"];
}

export function pendingIn(file: ReviewFile): ReviewHunk[] {
  return file.hunks.filter(isPending);
}

export function summary(pending: readonly Pending[]): string {
  const files = new Set(pending.map((it) => it.file));
  const changes = changesOf(pending.length);
  return files.size > 1 ? t("{0} in {1}", changes, filesOf(files.size)) : changes;
}

export function changesOf(count: number): string {
  return tn(count, "{0} change", "{0} changes");
}

export function filesOf(count: number): string {
  return tn(count, "{0} file", "{0} files");
}

/** The name of a file, to be shown. */
export function nameOf(uri: string): string {
  const path = decoded(uri.replace(/^[a-z][a-z\d+.-]*:/i, "").replace(/[?#].*$/s, ""));
  return readableLine(path.slice(path.lastIndexOf("/") + 1) || path);
}

/** An address without its escapes; one that has a `%` of another kind is left as it is. */
export function decoded(address: string): string {
  try {
    return decodeURIComponent(address);
  } catch {
    return address;
  }
}

/** What becomes of a file as a whole. */
export function operationName(operation: ReviewFile["operation"]): string {
  return { create: t("create"), delete: t("delete"), edit: t("edit"), rename: t("rename") }[operation];
}

export function titleOf(file: ReviewFile): string {
  const name = nameOf(file.uri);
  switch (file.operation) {
    case "create":
      return t("{0} (Odin: new file)", name);
    case "delete":
      return t("{0} (Odin: delete)", name);
    case "rename":
      return t("{0} → {1} (Odin: rename)", name, nameOf(file.newUri ?? file.uri));
    default:
      return t("{0} (Odin)", name);
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
  const line = [...withoutIcons(readableLine(text.replace(/\s+/g, " ").trim(), Number.POSITIVE_INFINITY))];
  return line.length > most ? `${line.slice(0, most - 1).join("")}…` : line.join("");
}
