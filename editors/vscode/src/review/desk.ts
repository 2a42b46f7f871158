// Proposals from the server to the screen and back: shown as diffs, decided by the user. The server applies them.

import { type Disposable, type Event, languages, type TextDocument, Uri, window, workspace } from "vscode";
import { Emitter } from "../emitter";
import type { AnswerReview, Odin } from "../odin";
import type { Receipt, Review, ReviewChanged } from "../protocol";
import { sameUri } from "./addresses";
import { registerReviewCommands } from "./commands";
import { Decisions } from "./decisions";
import { ShownFiles, type Text } from "./files";
import { Leftovers } from "./leftovers";
import { lossIn } from "./outcomes";
import { offerWords, penFor } from "./pen";
import { ProposedTexts } from "./proposed-texts";
import { nameOf, pendingIn, Reviews } from "./reviews";
import { read, type Shown, shownFile } from "./shown";
import { Stage, type User } from "./stage";
import { openDocument, reviewTabs, urisOf } from "./tabs";
import { ReviewViews } from "./views";
import { Bookmark, type Position } from "./walk";

const SHORT_MS = 6000;

export class ReviewDesk {
  readonly #reviews = new Reviews();
  readonly #files = new ShownFiles();
  readonly #leftovers = new Leftovers();
  readonly #texts = new ProposedTexts(
    (uri) => this.#textOf(uri),
    (uri) => this.#files.saved(uri),
  );
  readonly #bookmark = new Bookmark(this.#files);
  readonly #moved = new Emitter<Position | undefined>();
  /** The user is at another change; at none when there is nothing to review. */
  readonly onDidMove: Event<Position | undefined> = this.#moved.event;
  readonly #views = new ReviewViews(this.#files, this.#bookmark, (position) => this.#moved.fire(position));
  readonly #decisions: Decisions;
  readonly #stage: Stage;
  readonly #subscriptions: Disposable[];

  /** Turns that have begun since the server was started: their reviews come as requests. */
  readonly #begun = new Set<string>();
  #restoring: Promise<void> | undefined;

  constructor(
    private readonly odin: Odin,
    user: Pick<User, "isTyping" | "holdFocus">,
  ) {
    const tellError = (why: string) => void window.showErrorMessage(`Odin: ${why}`);
    this.#decisions = new Decisions(odin, this.#reviews, this.#files, tellError);
    this.#stage = new Stage(
      this.#files,
      { ...user, isInEditor: () => this.#decisions.isInEditor },
      this.#bookmark,
      () => this.#views.place(),
    );
    this.#subscriptions = [
      this.#texts,
      this.#views,
      ...registerReviewCommands(this.#files, this.#decisions, this.#stage, this.#bookmark),
      odin.onEvent(({ event, turnId }) => {
        if (event.kind === "turnStarted") {
          this.#begun.add(turnId);
        } else if (event.kind === "reviewOpened" && !this.#begun.has(turnId)) {
          void this.#open(event.proposal);
        } else if (event.kind === "reviewChanged") {
          this.#change(event);
        } else if (event.kind === "reviewClosed" && odin.state.kind !== "stopped") {
          void this.#close(event.proposalId, event.receipts);
        }
      }),
      odin.onDidChangeState(({ kind }) => {
        if (kind === "ready") {
          void this.#restored();
        } else {
          this.#begun.clear();
          this.#decisions.releaseAll();
        }
      }),
      workspace.onDidOpenTextDocument((document) => this.#opened(document)),
      workspace.onDidCloseTextDocument((document) => this.#files.closed(document)),
      workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (this.#files.typed(document, contentChanges)) {
          this.#views.redraw();
        }
      }),
    ];
    if (reviewTabs().length > 0) {
      void this.#restored();
    }
  }

  /** `odin/review`: held until everything is decided, in whatever way. */
  readonly answer: AnswerReview = (review, token) => {
    void this.#open(review);
    return this.#decisions.hold(review.proposalId, token);
  };

  dispose(): void {
    for (const it of this.#subscriptions) {
      it.dispose();
    }
  }

  async #open(proposed: Review): Promise<void> {
    const review = this.#reviews.open(proposed);
    if (!review) {
      return;
    }
    const pen = penFor(this.#texts);
    const files = review.files.map((file) => shownFile(review, file, pen, (uri) => void this.#deleted(uri)));
    this.#files.add(files);
    await Promise.all(files.map(read));
    for (const document of workspace.textDocuments.filter((it) => files.some(({ right }) => sameUri(right, it.uri)))) {
      this.#opened(document);
    }
    this.#views.refresh();
    void this.#stage.arrive(files);
  }

  #restored(): Promise<void> {
    this.#restoring ??= this.#restore().finally(() => {
      this.#restoring = undefined;
    });
    return this.#restoring;
  }

  /** After a start of the server or of the window: show what still waits, and close what does not. Done when it is known
   * which texts there are: VS Code waits for them. */
  async #restore(): Promise<void> {
    const before = [...this.#reviews].map((it) => it.proposalId);
    const proposals = await this.odin.execute("odin.review.list", {}).then(
      (it) => it.proposals,
      () => undefined,
    );
    if (proposals) {
      const gone = before.filter((id) => !proposals.some((it) => it.proposalId === id));
      await Promise.all(gone.map((id) => this.#close(id, [])));
    }
    for (const review of proposals ?? []) {
      const { proposalId, files } = review;
      if (before.includes(proposalId)) {
        const versions = Object.fromEntries(files.map((it) => [it.uri, it.version]));
        this.#change({ kind: "reviewChanged", proposalId, hunks: files.flatMap((it) => it.hunks), versions });
      } else {
        await this.#open(review);
      }
    }
    void this.#leftovers.close((uri) => this.#files.textOf(uri) !== undefined);
  }

  /** A tab that VS Code has opened by itself waits until the server has told of its review. */
  async #textOf(uri: Uri): Promise<Text | undefined> {
    const find = () => this.#files.textOf(uri) ?? this.#leftovers.textOf(uri);
    const found = find();
    if (!found && reviewTabs().some((tab) => urisOf(tab).some((it) => sameUri(it, uri)))) {
      await this.#restored();
    }
    return found ?? find();
  }

  #opened(document: TextDocument): void {
    const lost = this.#files.opened(document);
    void offerWords(`What you wrote for ${nameOf(document.uri.path)} no longer fits: the file has changed.`, lost);
    const proposed = this.#files.proposedAs(document.uri);
    const language = proposed && languageOf(proposed);
    if (language && language !== document.languageId) {
      void languages.setTextDocumentLanguage(document, language);
    }
  }

  async #deleted(uri: Uri): Promise<void> {
    const concerned = this.#files.reviewsOf(uri).filter((it) => it.file.operation !== "create");
    const chosen = this.#files.pending.filter((it) => concerned.includes(it.shown));
    if (chosen.length > 0) {
      const what = `${nameOf(uri.path)} was deleted: what Odin proposes for it cannot be applied.`;
      if ((await window.showWarningMessage(what, "Reject")) === "Reject") {
        await this.#decisions.reject(chosen, "the user deleted the file");
      }
    }
  }

  #change(event: ReviewChanged): void {
    const before = new Set(this.#reviews.pending.map((it) => it.hunk.id));
    const review = this.#reviews.change(event);
    if (event.hunks.some((it) => it.state === "superseded" && before.has(it.id))) {
      window.setStatusBarMessage("Odin: a proposed change was dropped, because the text there was edited", SHORT_MS);
    }
    const files = this.#files.of(review);
    const isDecided = !files.some((it) => pendingIn(it.file).length > 0);
    for (const it of files) {
      const words = it.texts.update(it.file, versionOf(it, event));
      if (it.file.operation === "create") {
        this.#texts.reload(it.left);
      }
      const why = `What you wrote for a change of ${nameOf(it.file.uri)} was not used: the change is no longer pending.`;
      void offerWords(why, words, languageOf(it));
      if (!isDecided && pendingIn(it.file).length === 0) {
        void this.#stage.goOn(it);
      }
    }
    this.#views.refresh();
  }

  async #close(proposalId: string, receipts: readonly Receipt[]): Promise<void> {
    const files = this.#take(proposalId);
    await this.#leave(files, receipts);
    for (const it of files) {
      const loss = lossIn(it.file, it.texts.own.unused, receipts);
      if (loss) {
        void tell(loss.why, loss.words, languageOf(it));
      }
    }
  }

  /** A review has ended; its files are still on the screen. */
  #take(proposalId: string): Shown[] {
    this.#decisions.release(proposalId);
    const files = this.#files.end(this.#reviews.close(proposalId));
    this.#views.refresh();
    return files;
  }

  async #leave(files: readonly Shown[], receipts: readonly Receipt[]): Promise<void> {
    await this.#stage.leave(files, receipts);
    this.#files.remove(files);
  }
}

function versionOf({ real }: Shown, { versions = {} }: ReviewChanged): number | undefined {
  return Object.entries(versions).find(([uri]) => sameUri(Uri.parse(uri), real))?.[1];
}

function languageOf({ real }: Shown): string | undefined {
  return openDocument(real)?.languageId;
}

/** Say what was lost, and offer what the user wrote for it. */
async function tell(why: string, words: readonly string[], language?: string): Promise<void> {
  await (words.length > 0 ? offerWords(why, words, language) : window.showWarningMessage(why));
}
