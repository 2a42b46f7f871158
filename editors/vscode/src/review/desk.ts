// Proposals from the server to the screen and back: shown as diffs, decided by the user. The server applies them.

import { type Disposable, type Event, languages, type TextDocument, Uri, workspace } from "vscode";
import { inBackground } from "../background";
import { Emitter } from "../emitter";
import { t } from "../l10n";
import type { AnswerReview, Odin } from "../odin";
import type { Receipt, Review, ReviewChanged } from "../protocol";
import { nameOf, type OpenReviews, pendingIn, type ReviewNews } from "../session/reviews";
import type { Position } from "../session/state";
import { tellUser, tellUserBriefly } from "../telling";
import { sameUri } from "./addresses";
import { registerReviewCommands } from "./commands";
import { Decisions } from "./decisions";
import { ShownFiles, type Text } from "./files";
import { Leftovers } from "./leftovers";
import { lossIn } from "./outcomes";
import { offerWords, penFor } from "./pen";
import { ProposedTexts } from "./proposed-texts";
import { read, type Shown, shownFile } from "./shown";
import { Stage, type User } from "./stage";
import { openDocument, reviewTabs, urisOf } from "./tabs";
import { ReviewViews } from "./views";
import { Bookmark } from "./walk";

const SHORT_MS = 6000;

export class ReviewDesk {
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
    private readonly reviews: OpenReviews,
    user: Omit<User, "isInEditor">,
  ) {
    const tellError = (why: string) => inBackground(tellUser("error", `Odin: ${why}`));
    this.#decisions = new Decisions(odin, reviews, this.#files, tellError);
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
          inBackground(this.#open(event.proposal));
        }
      }),
      reviews.onDidHear((news) => {
        if (news.kind === "changed") {
          this.#change(news);
        } else {
          inBackground(this.#close(news.review, news.receipts));
        }
      }),
      odin.onDidChangeState(({ kind }) => {
        if (kind === "ready") {
          inBackground(this.#restored());
        } else {
          this.#begun.clear();
          this.#decisions.releaseAll();
        }
      }),
      workspace.onDidOpenTextDocument((document) => this.#opened(document)),
      workspace.onDidCloseTextDocument((document) => this.#files.closed(document)),
      workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (this.#files.typed(document, contentChanges)) {
          this.#views.redrawSoon();
        }
      }),
    ];
    if (reviewTabs().length > 0) {
      inBackground(this.#restored());
    }
  }

  /** `odin/review`: held until everything is decided, in whatever way. */
  readonly answer: AnswerReview = (review, token) => {
    inBackground(this.#open(review));
    return this.#decisions.hold(review.proposalId, token);
  };

  /** Decide on all that waits of a proposal, from where it is shown besides its diffs. */
  accept(proposalId: string): Promise<void> {
    return this.#decisions.accept(this.#files.pendingOf(proposalId), true);
  }

  reject(proposalId: string, reason?: string): Promise<void> {
    return this.#decisions.reject(this.#files.pendingOf(proposalId), reason, true);
  }

  dispose(): void {
    for (const it of this.#subscriptions) {
      it.dispose();
    }
  }

  async #open(proposed: Review): Promise<void> {
    const review = this.reviews.open(proposed);
    if (this.#files.of(review).length > 0) {
      return;
    }
    const pen = penFor(this.#texts);
    const files = review.files.map((file) => shownFile(review, file, pen, (uri) => inBackground(this.#deleted(uri))));
    this.#files.add(files);
    await Promise.all(files.map(read));
    for (const document of workspace.textDocuments.filter((it) => files.some(({ right }) => sameUri(right, it.uri)))) {
      this.#opened(document);
    }
    this.#views.refresh();
    inBackground(this.#stage.arrive(files));
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
    const proposals = await this.odin.execute("odin.review.list", {}).then(
      (it) => it.proposals,
      () => undefined,
    );
    if (proposals) {
      this.reviews.set(proposals);
    }
    for (const review of proposals ?? []) {
      await this.#open(review);
    }
    inBackground(this.#leftovers.close((uri) => this.#files.textOf(uri) !== undefined));
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
    inBackground(
      offerWords(t("What you wrote for {0} no longer fits: the file has changed.", nameOf(document.uri.path)), lost),
    );
    const proposed = this.#files.proposedAs(document.uri);
    const language = proposed && languageOf(proposed);
    if (language && language !== document.languageId) {
      inBackground(languages.setTextDocumentLanguage(document, language));
    }
  }

  async #deleted(uri: Uri): Promise<void> {
    const concerned = this.#files.reviewsOf(uri).filter((it) => it.file.operation !== "create");
    const chosen = this.#files.pending.filter((it) => concerned.includes(it.shown));
    if (chosen.length > 0) {
      const what = t("{0} was deleted. Odin's changes to it cannot be applied.", nameOf(uri.path));
      if (await tellUser("warning", what, t("Reject"))) {
        await this.#decisions.reject(chosen, "the user deleted the file");
      }
    }
  }

  #change({ review, event, isTextLost }: Extract<ReviewNews, { kind: "changed" }>): void {
    if (isTextLost) {
      tellUserBriefly(t("Odin: A proposed change was dropped because its text was edited."), SHORT_MS);
    }
    const files = this.#files.of(review);
    const isDecided = !files.some((it) => pendingIn(it.file).length > 0);
    for (const it of files) {
      const words = it.texts.update(it.file, versionOf(it, event));
      if (it.file.operation === "create") {
        this.#texts.reload(it.left);
      }
      const name = nameOf(it.file.uri);
      const why = t("What you wrote for a change in {0} was not used: the change is no longer pending.", name);
      inBackground(offerWords(why, words, languageOf(it)));
      if (!isDecided && pendingIn(it.file).length === 0) {
        inBackground(this.#stage.goOn(it));
      }
    }
    this.#views.refresh();
  }

  /** A review has ended; its files are still on the screen. */
  async #close(review: Review, receipts: readonly Receipt[]): Promise<void> {
    this.#decisions.release(review.proposalId);
    const files = this.#files.end(review);
    this.#views.refresh();
    await this.#stage.leave(files, receipts);
    this.#files.remove(files);
    for (const it of files) {
      const loss = lossIn(it.file, it.texts.own.unused, receipts);
      if (loss) {
        inBackground(tell(loss.why, loss.words, languageOf(it)));
      }
    }
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
  await (words.length > 0 ? offerWords(why, words, language) : tellUser("warning", why));
}
