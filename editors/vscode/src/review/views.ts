// What tells of reviews beside their diffs: the tree, lenses and marks in files, and which commands there are.

import { commands, type Disposable, languages, type TextEditor, window } from "vscode";
import { inBackground } from "../background";
import type { Position } from "../session/state";
import { SCHEME } from "./addresses";
import { changesAtCursor } from "./cursor";
import type { ShownFiles } from "./files";
import { ReviewLenses } from "./lenses";
import { ReviewMarks } from "./marks";
import * as tabs from "./tabs";
import { ReviewTree } from "./tree";
import type { Bookmark } from "./walk";

const TYPING_MS = 100;

export class ReviewViews {
  readonly #tree: ReviewTree;
  readonly #lenses: ReviewLenses;
  readonly #marks: ReviewMarks;
  readonly #subscriptions: Disposable[];
  #contexts = "";
  #pause: NodeJS.Timeout | undefined;
  #position: Position | undefined;

  constructor(
    private readonly files: ShownFiles,
    private readonly bookmark: Bookmark,
    private readonly tellPosition: (position: Position | undefined) => void,
  ) {
    this.#tree = new ReviewTree(files);
    this.#lenses = new ReviewLenses(files);
    this.#marks = new ReviewMarks(files);
    this.#subscriptions = [
      this.#tree,
      this.#lenses,
      this.#marks,
      languages.registerCodeLensProvider([{ scheme: "file" }, { scheme: SCHEME }], this.#lenses),
      window.onDidChangeVisibleTextEditors(() => this.redraw()),
      window.onDidChangeActiveTextEditor((editor) => this.#follow(editor)),
      window.onDidChangeTextEditorSelection(({ textEditor, kind }) => {
        // Without a kind the text has changed around the cursor.
        if (kind !== undefined && textEditor === window.activeTextEditor) {
          this.#follow(textEditor);
        }
      }),
      window.tabGroups.onDidChangeTabs(() => this.#tellContexts()),
      window.tabGroups.onDidChangeTabGroups(() => this.#tellContexts()),
    ];
  }

  /** Something was proposed or decided. */
  refresh(): void {
    this.#tree.refresh();
    this.redraw();
    this.place();
    this.#tellContexts();
  }

  /** The user may be at another change. */
  place(): void {
    const { position } = this.bookmark;
    if (position?.words !== this.#position?.words || position?.proposalId !== this.#position?.proposalId) {
      this.#position = position;
      this.#tree.place(position?.words);
      this.tellPosition(position);
    }
  }

  /** Hunks may have moved. */
  redraw(): void {
    clearTimeout(this.#pause);
    this.#pause = undefined;
    this.#lenses.refresh();
    this.#marks.draw();
  }

  /** Somebody types: what is drawn moves along by itself for a while. */
  redrawSoon(): void {
    this.#pause ??= setTimeout(() => this.redraw(), TYPING_MS);
  }

  dispose(): void {
    clearTimeout(this.#pause);
    for (const it of this.#subscriptions) {
      it.dispose();
    }
  }

  #follow(editor: TextEditor | undefined): void {
    this.bookmark.put(editor && changesAtCursor(this.files, editor)[0]?.hunk.id);
    this.place();
  }

  /** `odin.reviewPending`: something is; `odin.reviewActive`: the tab in front shows it, a `file` or a `set` of them. */
  #tellContexts(): void {
    const contexts = { "odin.reviewPending": this.files.pending.length > 0, "odin.reviewActive": tabs.kindInFront() };
    if (JSON.stringify(contexts) !== this.#contexts) {
      this.#contexts = JSON.stringify(contexts);
      for (const [key, value] of Object.entries(contexts)) {
        inBackground(commands.executeCommand("setContext", key, value));
      }
    }
  }
}
