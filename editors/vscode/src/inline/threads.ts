// Edits where the text is: a prompt at the selection, what is being written, and the decision on it. The only input box
// within a text that VS Code has for extensions is that of comments.

import { randomUUID } from "node:crypto";
import {
  type Comment,
  CommentMode,
  type CommentReply,
  type CommentThread,
  CommentThreadCollapsibleState,
  commands,
  comments,
  type Disposable,
  languages,
  Range,
  Selection,
  type TextDocument,
  type TextEditor,
  ThemeColor,
  window,
  workspace,
} from "vscode";
import { inBackground } from "../background";
import { readableLine } from "../chat/text";
import { attachedTo, isCommentBox, lastLineOf } from "../context";
import { t } from "../l10n";
import type { Odin } from "../odin";
import type { ContextItem, Outcome, Review, ReviewHunk } from "../protocol";
import type { OpenReviews } from "../session/reviews";
import { markdownOf, tellUser } from "../telling";
import { InlineEdit } from "./edit";
import { piecesOf } from "./words";

const PACE_MS = 100;

/** What an edit needs of the other parts. */
export interface Means {
  /** Settles when the turn has ended. */
  begin(turnId: string, text: string, context: readonly ContextItem[]): Promise<Outcome | undefined>;
  cancel(turnId: string): Promise<void>;
  accept(proposalId: string): Promise<void>;
  reject(proposalId: string, reason?: string): Promise<void>;
}

interface Place {
  readonly thread: CommentThread;
  readonly language: string;
  readonly context: readonly ContextItem[];
  /** What the user said, and what Odin shows below it. */
  readonly said: Comment[];
  readonly answer: Comment;
  /** None before the user has said what to edit. */
  edit?: InlineEdit;
  /** The proposal is to be made again, for a reason that the user gave. */
  isRefined: boolean;
}

export class InlineEdits implements Disposable {
  readonly #controller = comments.createCommentController("odin.inline", "Odin");
  readonly #going = window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new ThemeColor("diffEditor.removedLineBackground"),
  });
  readonly #subscriptions: Disposable[];
  #places: Place[] = [];
  #pause: NodeJS.Timeout | undefined;
  #phase = "";
  /** The document that the user is in. */
  #inFront = window.activeTextEditor?.document;

  constructor(
    odin: Odin,
    private readonly reviews: OpenReviews,
    private readonly means: Means,
  ) {
    this.#controller.options = {
      prompt: t("Say what should be different…"),
      placeHolder: t("What should be different?"),
    };
    const register = (verb: string, run: (place: Place) => Promise<void>) =>
      commands.registerCommand(`odin.vscode.${verb}`, async (target?: CommentThread) => {
        const place = this.#placeOf(target);
        if (place) await run(place);
      });
    this.#subscriptions = [
      this.#controller,
      this.#going,
      commands.registerCommand("odin.vscode.editHere", () => this.#ask()),
      commands.registerCommand("odin.vscode.sendInline", (comment: Comment) => this.#send(comment)),
      commands.registerCommand("odin.vscode.refineInline", (reply: CommentReply) => this.#refine(reply)),
      register("acceptInline", (place) => this.#decide(place, (id) => means.accept(id))),
      register("rejectInline", (place) => this.#decide(place, (id) => means.reject(id))),
      register("cancelInline", (place) => this.#cancel(place)),
      odin.onEvent((record) => {
        if (this.#places.filter((it) => it.edit?.take(record)).length > 0) this.#showSoon();
      }),
      odin.onDidChangeState(({ kind }) => kind !== "ready" && this.#close(this.#places.filter((it) => it.edit))),
      reviews.onDidHear((news) => {
        if (news.kind === "closed") for (const it of this.#places) it.edit?.settle(news.review, it.isRefined);
        this.#showSoon();
      }),
      window.onDidChangeActiveTextEditor((editor) => this.#follow(editor)),
      window.onDidChangeVisibleTextEditors(() => this.#mark()),
      workspace.onDidCloseTextDocument((document) => this.#close(this.#places.filter((it) => isIn(it, document)))),
    ];
  }

  /** Whether a proposal is decided here, where it was asked for. */
  readonly shows = (review: Review): boolean => this.#places.some((it) => it.edit?.canShow(review));

  dispose(): void {
    clearTimeout(this.#pause);
    for (const it of this.#subscriptions) it.dispose();
  }

  #ask(): void {
    const editor = window.activeTextEditor;
    if (editor?.document.uri.scheme !== "file") {
      inBackground(tellUser("info", t("Odin: Open a file and select the code to edit.")));
      return;
    }
    this.#close(this.#places.filter((it) => !it.edit));
    const { document } = editor;
    const selection = selectedIn(editor);
    const { items, label } = attachedTo({ document, selection }, languages.getDiagnostics(document.uri));
    const below = new Range(lastLineOf(selection), 0, lastLineOf(selection), 0);
    // VS Code puts the focus into a comment that is being edited when its thread opens, and into nothing else.
    const said = { ...commentOf(t("You"), ""), mode: CommentMode.Editing, label: t("Press Enter to send") };
    const thread = this.#controller.createCommentThread(document.uri, below, [said]);
    thread.label = t("Odin: Edit {0}", readableLine(label));
    thread.contextValue = "asking";
    thread.canReply = false;
    thread.collapsibleState = CommentThreadCollapsibleState.Expanded;
    const answer = commentOf("Odin", "");
    this.#places.push({
      thread,
      answer,
      context: items,
      language: document.languageId,
      said: [said],
      isRefined: false,
    });
    this.#tellPhase();
  }

  async #send(comment: Comment): Promise<void> {
    const place = this.#places.find((it) => it.said.includes(comment));
    const text = String(comment.body).trim();
    if (!place || place.edit || !text) return;
    place.said[0] = commentOf(t("You"), text);
    const edit = new InlineEdit(randomUUID(), place.thread.uri.toString());
    place.edit = edit;
    this.#show();
    this.#leaveBox();
    const outcome = await this.means.begin(edit.turnId, text, place.context);
    if (!edit.outcome) edit.finish(outcome);
    this.#show();
  }

  async #refine({ thread, text }: CommentReply): Promise<void> {
    const place = this.#placeOf(thread);
    const reason = text.trim();
    if (!place || !reason) return;
    place.said.push(commentOf(t("You"), reason));
    place.isRefined = true;
    this.#leaveBox();
    await this.#decide(place, (id) => this.means.reject(id, reason));
  }

  async #decide({ edit }: Place, how: (proposalId: string) => Promise<void>): Promise<void> {
    if (edit?.proposalId) await how(edit.proposalId);
  }

  async #cancel(place: Place): Promise<void> {
    const { edit } = place;
    this.#close([place]);
    this.#leaveBox();
    if (edit?.phase === "working") await this.means.cancel(edit.turnId);
  }

  /** Who has said what to say is back in the text. */
  #leaveBox(): void {
    inBackground(commands.executeCommand("workbench.action.focusActiveEditorGroup"));
  }

  /** The one that is named, or the last in the document in front. */
  #placeOf(target: CommentThread | undefined): Place | undefined {
    const document = this.#inFront;
    return this.#places.findLast((it) => (target ? it.thread === target : document && isIn(it, document)));
  }

  /** A model writes faster than anybody reads. */
  #showSoon(): void {
    this.#pause ??= setTimeout(() => this.#show(), PACE_MS);
  }

  #show(): void {
    clearTimeout(this.#pause);
    this.#pause = undefined;
    for (const place of this.#places) this.#showAt(place);
    this.#close(this.#places.filter((it) => it.edit?.phase === "closed"));
  }

  #showAt(place: Place): void {
    const { thread, edit, answer, said } = place;
    if (!edit) return;
    const review = [...this.reviews].find((it) => edit.canShow(it));
    if (review && review.proposalId !== edit.proposalId) {
      edit.propose(review);
      place.isRefined = false;
    }
    answer.body = markdownOf(piecesOf(edit), place.language);
    thread.comments = [...said, answer];
    thread.contextValue = edit.phase;
    thread.canReply = edit.phase === "deciding";
  }

  #close(places: readonly Place[]): void {
    for (const { thread } of places) thread.dispose();
    this.#places = this.#places.filter((it) => !places.includes(it));
    this.#mark();
    this.#tellPhase();
  }

  /** The lines that would go. */
  #mark(): void {
    for (const editor of window.visibleTextEditors) {
      const here = this.#places.filter((it) => isIn(it, editor.document));
      editor.setDecorations(
        this.#going,
        here.flatMap(({ edit }) => (edit ? goingIn(edit, editor.document) : [])),
      );
    }
  }

  #follow(editor: TextEditor | undefined): void {
    if (!isCommentBox(editor?.document)) this.#inFront = editor?.document;
    this.#tellPhase();
  }

  /** For keys: what the last edit in the document in front waits for. */
  #tellPhase(): void {
    const place = this.#placeOf(undefined);
    const phase = place ? (place.edit?.phase ?? "asking") : "";
    if (phase !== this.#phase) {
      this.#phase = phase;
      inBackground(commands.executeCommand("setContext", "odin.inline", phase));
    }
  }
}

function isIn({ thread }: Place, { uri }: TextDocument): boolean {
  return thread.uri.toString() === uri.toString();
}

/** Where nothing is selected, the line of the cursor. */
function selectedIn({ document, selection }: TextEditor): Selection {
  const { range } = document.lineAt(selection.active.line);
  return selection.isEmpty ? new Selection(range.start, range.end) : selection;
}

function commentOf(name: string, body: string): Comment {
  return { author: { name }, body, mode: CommentMode.Preview };
}

function goingIn(edit: InlineEdit, document: TextDocument): Range[] {
  if (edit.phase === "deciding") return edit.pending.filter((it) => it.oldText !== "").map(linesOf);
  const text = document.getText();
  return edit.writing.flatMap(({ old }) => {
    const at = old === "" ? -1 : text.indexOf(old);
    return at < 0 ? [] : [new Range(document.positionAt(at), document.positionAt(at + old.trimEnd().length))];
  });
}

function linesOf({ range: { start, end } }: ReviewHunk): Range {
  const range = new Range(start.line, start.character, end.line, end.character);
  return new Range(start.line, 0, lastLineOf(range), 0);
}
