// Proposals from the server to the screen and back: shown as diffs, decided by the user. The server applies them.

import { commands, type Disposable, languages, type TextDocument, Uri, window, workspace } from "vscode";
import type { AnswerReview, Odin } from "../odin";
import type { Decision, Receipt, Review, ReviewAnswer, ReviewChanged, ReviewFile, ReviewHunk } from "../protocol";
import { counted } from "../words";
import { registerReviewCommands } from "./commands";
import { onDeletion } from "./deletions";
import { FileUnderReview } from "./file";
import { closeLeftovers } from "./leftovers";
import { ReviewLenses } from "./lenses";
import { ReviewMarks } from "./marks";
import { offerWords, penFor } from "./pen";
import { ProposedTexts, SCHEME, type Text } from "./proposed-texts";
import { nameOf, pendingIn, Reviews, summary, titleOf } from "./reviews";
import * as tabs from "./tabs";
import { placeAt, shown } from "./texts";
import { ReviewTree } from "./tree";

const SHORT_MS = 6000;
const TYPED_THERE = "the user typed there meanwhile";

/** A file of a review, and the two sides of its diff. */
export interface Shown {
  readonly review: Review;
  readonly file: ReviewFile;
  readonly texts: FileUnderReview;
  readonly real: Uri;
  readonly left: Uri;
  readonly right: Uri;
  readonly watcher: Disposable;
  /** Its text can be shown: it is neither a folder nor binary. */
  isText: boolean;
  /** Its review has ended, its tabs are about to close. What is still typed there is the user's all the same. */
  isEnding: boolean;
}

export interface Chosen {
  shown: Shown;
  hunk: ReviewHunk;
}

/** What of the reviews is shown beside the diffs. */
export interface Desk {
  readonly files: readonly Shown[];
  readonly pending: readonly Chosen[];
  /** The file that is proposed as this document. */
  proposedAs(uri: Uri): Shown | undefined;
  /** What is under review of this file. */
  reviewsOf(uri: Uri): Shown[];
}

export class ReviewDesk implements Desk {
  readonly #reviews = new Reviews();
  #all: Shown[] = [];
  /** Documents of the window before this one, which are about to be closed. */
  readonly #leftovers = new Set<string>();
  readonly #waiting = new Map<string, (answer: ReviewAnswer | null) => void>();
  readonly #texts = new ProposedTexts(
    (uri) => this.#textOf(uri),
    (uri) => this.#rightAt(uri)?.texts.keep(),
  );
  readonly #tree = new ReviewTree(this);
  readonly #lenses = new ReviewLenses(this);
  readonly #marks = new ReviewMarks(this);
  readonly #subscriptions: Disposable[];
  #contexts = "";
  /** The last decision was made in an editor: that is where the user goes on. */
  #isInEditor = false;

  constructor(
    private readonly odin: Odin,
    private readonly isTyping: () => boolean,
  ) {
    this.#subscriptions = [
      this.#texts,
      this.#tree,
      this.#lenses,
      this.#marks,
      languages.registerCodeLensProvider([{ scheme: "file" }, { scheme: SCHEME }], this.#lenses),
      ...registerReviewCommands(this),
      odin.onEvent(({ event }) => {
        if (event.kind === "reviewChanged") {
          this.#change(event);
        } else if (event.kind === "reviewClosed" && odin.state.kind !== "stopped") {
          void this.#close(event.proposalId, event.receipts);
        }
      }),
      odin.onDidChangeState(({ kind }) => {
        // Stopped, it is either started anew, or the window goes, which keeps what is unsaved for the next one.
        if (kind === "starting" || kind === "failed") {
          void this.#end();
        }
      }),
      workspace.onDidOpenTextDocument((document) => this.#opened(document)),
      workspace.onDidCloseTextDocument((document) => {
        for (const { texts } of this.reviewsOf(document.uri)) {
          texts.closeReal();
        }
        this.proposedAs(document.uri)?.texts.closeProposed();
      }),
      workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        const files = this.#all.filter((it) => tabs.sameUri(it.real, document.uri));
        const proposed = this.#rightAt(document.uri);
        for (const { texts } of files) {
          texts.realTyped(contentChanges);
        }
        proposed?.texts.proposedTyped(contentChanges);
        if (proposed || files.length > 0) {
          this.#redraw();
        }
      }),
      window.onDidChangeVisibleTextEditors(() => this.#redraw()),
      window.tabGroups.onDidChangeTabs(() => this.#tellContexts()),
      window.tabGroups.onDidChangeTabGroups(() => this.#tellContexts()),
    ];
    void closeLeftovers((uri) => this.#leftovers.add(uri.toString()));
  }

  /** `odin/review`: held until everything is decided, in whatever way. */
  readonly answer: AnswerReview = (review, token) => {
    this.#open(review);
    return new Promise((resolve) => {
      this.#waiting.set(review.proposalId, resolve);
      token.onCancellationRequested(() => this.#answer(review.proposalId, null));
    });
  };

  get files(): readonly Shown[] {
    return this.#all.filter((it) => !it.isEnding);
  }

  get pending(): readonly Chosen[] {
    return this.files.flatMap((it) => pendingIn(it.file).map((hunk) => ({ shown: it, hunk })));
  }

  proposedAs(uri: Uri): Shown | undefined {
    const found = this.#rightAt(uri);
    return found?.isEnding ? undefined : found;
  }

  reviewsOf(uri: Uri): Shown[] {
    return this.files.filter((it) => tabs.sameUri(it.real, uri));
  }

  /** Accept as it stands on the screen, with what the user has changed there. */
  async accept(chosen: readonly Chosen[], isInEditor = false): Promise<void> {
    this.#isInEditor = isInEditor;
    const decisions = await this.#decisionsOn(chosen);
    const rejected = decisions.filter((it) => it.decision === "reject").map((it) => it.hunkId);
    const accepted = decisions.filter((it) => it.decision !== "reject");
    const texts = Object.fromEntries(accepted.flatMap((it) => (it.text === undefined ? [] : [[it.hunkId, it.text]])));
    await this.#told(chosen, async () => {
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
    for (const { shown: it, hunk } of chosen) {
      it.texts.settle([hunk.id]);
    }
    const hunkIds = chosen.map((it) => it.hunk.id);
    await this.#told(chosen, () => this.odin.execute("odin.review.reject", { hunkIds, reason: reason || undefined }));
  }

  /** Accept what is pending, and all that its turns still propose. */
  async acceptRest(): Promise<void> {
    for (const review of [...this.#reviews]) {
      const chosen = this.pending.filter((it) => it.shown.review === review);
      if (this.#waiting.has(review.proposalId)) {
        this.#answer(review.proposalId, { decisions: await this.#decisionsOn(chosen), restOfTurn: "accept" });
      } else {
        await this.accept(chosen);
      }
    }
  }

  /** Show the diff of a file, at a hunk of it. */
  async show(it: Shown, hunk?: ReviewHunk, how: tabs.HowToShow = {}): Promise<void> {
    if (!it.isText) {
      void window.showInformationMessage(`${nameOf(it.file.uri)} cannot be shown as text.`);
      return;
    }
    const at = hunk && it.texts.placesOf(hunk.id)?.proposed[0];
    const line = at === undefined ? undefined : placeAt(shown(it.texts.sheet), at).line;
    await tabs.showDiff({ title: titleOf(it.file), left: it.left, right: it.right }, { line, ...how });
  }

  /** Show what is pending, of one proposal or of all: several files in one tab. */
  async showAll(proposalId?: string): Promise<void> {
    const wanted = this.pending.filter((it) => !proposalId || it.shown.review.proposalId === proposalId);
    const files = [...new Set(wanted.map((it) => it.shown))].filter((it) => it.isText);
    const [first] = files;
    if (files.length > 1) {
      const sides = files.map((it) => ({ title: titleOf(it.file), left: it.left, right: it.right }));
      await tabs.showAll("Odin: Proposed Changes", sides);
    } else if (first) {
      await this.show(first, pendingIn(first.file)[0]);
    } else {
      await commands.executeCommand("odin.reviewTree.focus");
    }
  }

  dispose(): void {
    for (const it of this.#subscriptions) {
      it.dispose();
    }
  }

  #open(review: Review): void {
    if (this.#reviews.open(review)) {
      const opened = this.#reviews.of(review.proposalId) as Review;
      const files = opened.files.map((file) => this.#shown(opened, file));
      this.#all.push(...files);
      void this.#arrive(files);
    }
  }

  #shown(review: Review, file: ReviewFile): Shown {
    const real = Uri.parse(file.uri);
    const { path } = file.newUri ? Uri.parse(file.newUri) : real;
    const right = Uri.from({ scheme: SCHEME, path, query: review.proposalId });
    const left = file.operation === "create" ? right.with({ query: `${review.proposalId}&empty` }) : real;
    const texts = new FileUnderReview(file, penFor(this.#texts));
    const watcher = onDeletion(real, () => void this.#deleted(real));
    return { review, file, real, left, right, texts, watcher, isText: file.operation === "create", isEnding: false };
  }

  /** Nobody who types is taken anywhere: then a tab waits in the background. */
  async #arrive(files: readonly Shown[]): Promise<void> {
    await Promise.all(files.filter((it) => !it.isText).map((it) => this.#read(it)));
    this.#refresh();
    const pending = this.pending.filter((it) => files.includes(it.shown));
    const first = pending.find((it) => it.shown.isText);
    const { activeTab } = window.tabGroups.activeTabGroup;
    const background = this.isTyping() || (activeTab !== undefined && tabs.isReview(activeTab));
    if (first) {
      await this.show(first.shown, first.hunk, { preserveFocus: true, background });
    }
    if (pending.length > 0 && (background || files.length > 1 || !first)) {
      const what = `Odin proposes ${summary(pending.map((it) => ({ ...it.shown, hunk: it.hunk })))}.`;
      if ((await window.showInformationMessage(what, "Review")) === "Review") {
        await this.showAll(first?.shown.review.proposalId);
      }
    }
  }

  async #deleted(uri: Uri): Promise<void> {
    const chosen = this.pending.filter(
      (it) => tabs.sameUri(it.shown.real, uri) && it.shown.file.operation !== "create",
    );
    if (chosen.length > 0) {
      const what = `${nameOf(uri.path)} was deleted: what Odin proposes for it cannot be applied.`;
      if ((await window.showWarningMessage(what, "Reject")) === "Reject") {
        await this.reject(chosen, "the user deleted the file");
      }
    }
  }

  async #read(it: Shown): Promise<void> {
    try {
      it.texts.openReal(await workspace.openTextDocument(it.real));
      it.isText = true;
    } catch {
      it.isText = false;
    }
  }

  #opened(document: TextDocument): void {
    for (const it of this.reviewsOf(document.uri)) {
      it.texts.openReal(document);
    }
    const proposed = this.proposedAs(document.uri);
    proposed?.texts.openProposed(document);
    const language = proposed && tabs.openDocument(proposed.real)?.languageId;
    if (language && language !== document.languageId) {
      void languages.setTextDocumentLanguage(document, language);
    }
  }

  #change(event: ReviewChanged): void {
    const before = new Set(this.#reviews.pending.map((it) => it.hunk.id));
    const review = this.#reviews.change(event);
    if (event.hunks.some((it) => it.state === "superseded" && before.has(it.id))) {
      window.setStatusBarMessage("Odin: a proposed change was dropped, because the text there was edited", SHORT_MS);
    }
    const files = this.files.filter((it) => it.review === review);
    const isDecided = !files.some((it) => pendingIn(it.file).length > 0);
    for (const it of files) {
      const version = Object.entries(event.versions ?? {}).find(([uri]) => tabs.sameUri(Uri.parse(uri), it.real))?.[1];
      const words = it.texts.update(it.file, version);
      if (isDecided) {
        it.texts.freeze();
      }
      const why = `What you wrote for a change of ${nameOf(it.file.uri)} was not used: the change is no longer pending.`;
      void offerWords(why, words, tabs.openDocument(it.real)?.languageId);
      if (!isDecided && pendingIn(it.file).length === 0) {
        void this.#goOn(it);
      }
    }
    this.#refresh();
  }

  /** All of a file is decided, but not of the others: on to the next one. */
  async #goOn(done: Shown): Promise<void> {
    const own = () => tabs.diffTabsOf(done.right);
    const next = this.pending.find((it) => it.shown.review === done.review && it.shown.isText);
    const active = own().find((it) => it.isActive && it.group.isActive);
    if (active && next) {
      await this.show(next.shown, next.hunk, { preserveFocus: !this.#isInEditor });
    }
    await tabs.close(own, []);
  }

  async #close(proposalId: string, receipts: readonly Receipt[]): Promise<void> {
    this.#answer(proposalId, null);
    const files = this.#take(this.#reviews.close(proposalId));
    const done = new Set(
      receipts.filter((it) => it.state === "accepted" || it.state === "modified").map((it) => it.hunkId),
    );
    await this.#leave(files, (it) => it.file.hunks.some((hunk) => done.has(hunk.id)));
    for (const it of files) {
      const failed = receipts.filter((receipt) => receipt.state === "superseded" && receipt.reason !== TYPED_THERE);
      const own = failed.filter((receipt) => it.file.hunks.some((hunk) => hunk.id === receipt.hunkId));
      const name = nameOf(it.file.uri);
      const words = it.texts.unusedWords;
      const reason = own[0]?.reason;
      const why = reason
        ? `${counted(own.length, "change")} of ${name} not applied: ${reason}.`
        : `What you wrote for a change of ${name} was not used: the review has ended.`;
      if (words.length > 0) {
        void offerWords(why, words, tabs.openDocument(it.real)?.languageId);
      } else if (reason) {
        void window.showWarningMessage(why);
      }
    }
  }

  /** The server has ended, and with it what it proposed. */
  async #end(): Promise<void> {
    const pending = this.pending;
    const files = [...this.#reviews].flatMap((review) => {
      this.#answer(review.proposalId, null);
      return this.#take(this.#reviews.close(review.proposalId));
    });
    if (files.length === 0) {
      return;
    }
    await this.#leave(files, () => false);
    const why = `Odin ended while ${counted(pending.length, "change")} waited for a review. Nothing of it was applied.`;
    const words = files.flatMap((it) => it.texts.unusedWords);
    await (words.length > 0 ? offerWords(why, words) : window.showWarningMessage(why));
  }

  #take(review: Review | undefined): Shown[] {
    const files = this.files.filter((it) => it.review === review);
    for (const it of files) {
      it.isEnding = true;
      it.watcher.dispose();
    }
    this.#refresh();
    return files;
  }

  /** Close the diffs. Who decided in one of them goes on in the file, where the edit can be undone. */
  async #leave(files: readonly Shown[], isChanged: (it: Shown) => boolean): Promise<void> {
    const tabsOf = (it: Shown) => [...tabs.diffTabsOf(it.right), ...tabs.multiDiffTabsOf(it.right)];
    const own = () => [...new Set(files.flatMap(tabsOf))];
    const active = own().find((it) => it.isActive && it.group.isActive);
    const here =
      active && files.find((it) => isChanged(it) && tabs.urisOf(active).some((uri) => tabs.sameUri(uri, it.right)));
    if (active && here && here.file.operation !== "delete") {
      const uri = here.file.newUri ? Uri.parse(here.file.newUri) : here.real;
      const column = active.group.viewColumn;
      const options = { viewColumn: column, preserveFocus: !this.#isInEditor, preview: false };
      await window.showTextDocument(uri, options).then(undefined, () => undefined);
    }
    await tabs.close(
      own,
      files.map((it) => it.right),
    );
    await Promise.all(files.map((it) => it.texts.arrived()));
    this.#all = this.#all.filter((it) => !files.includes(it));
  }

  async #decisionsOn(chosen: readonly Chosen[]): Promise<Decision[]> {
    await Promise.all(chosen.map((it) => it.shown.texts.arrived()));
    return chosen.map(({ shown: it, hunk }) => ({ hunkId: hunk.id, ...it.texts.decide(hunk.id) }));
  }

  async #told(chosen: readonly Chosen[], tell: () => Promise<unknown>): Promise<void> {
    try {
      await tell();
    } catch (error) {
      for (const { shown: it, hunk } of chosen) {
        it.texts.unsettle([hunk.id]);
      }
      void window.showErrorMessage(`Odin: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  #answer(proposalId: string, answer: ReviewAnswer | null): void {
    this.#waiting.get(proposalId)?.(answer);
    this.#waiting.delete(proposalId);
  }

  #textOf(uri: Uri): Text | undefined {
    const it = this.#rightAt(uri);
    if (it) {
      return { text: it.texts.proposed, isEditable: it.texts.isEditable };
    }
    const isLeft = this.#all.some((file) => tabs.sameUri(file.left, uri));
    if (isLeft) {
      return { text: "", isEditable: false };
    }
    return this.#leftovers.has(uri.toString()) ? { text: "", isEditable: true } : undefined;
  }

  #rightAt(uri: Uri): Shown | undefined {
    return uri.scheme === SCHEME ? this.#all.find((it) => tabs.sameUri(it.right, uri)) : undefined;
  }

  #refresh(): void {
    this.#tree.refresh();
    this.#redraw();
    this.#tellContexts();
  }

  #redraw(): void {
    this.#lenses.refresh();
    this.#marks.draw();
  }

  /** `odin.reviewPending`: something is; `odin.reviewActive`: the tab in front shows it, a `file` or a `set` of them. */
  #tellContexts(): void {
    const { activeTab } = window.tabGroups.activeTabGroup;
    const isReview = activeTab !== undefined && tabs.isReview(activeTab);
    const active = isReview ? (tabs.urisOf(activeTab).length > 2 ? "set" : "file") : "";
    const contexts = { "odin.reviewPending": this.pending.length > 0, "odin.reviewActive": active };
    if (JSON.stringify(contexts) !== this.#contexts) {
      this.#contexts = JSON.stringify(contexts);
      for (const [key, value] of Object.entries(contexts)) {
        void commands.executeCommand("setContext", key, value);
      }
    }
  }
}
