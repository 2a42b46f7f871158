// What tells of reviews beside their diffs: the tree, lenses and marks in files, and which commands there are.

import { commands, type Disposable, languages, window } from "vscode";
import { SCHEME } from "./addresses";
import type { ShownFiles } from "./files";
import { ReviewLenses } from "./lenses";
import { ReviewMarks } from "./marks";
import * as tabs from "./tabs";
import { ReviewTree } from "./tree";

export class ReviewViews {
  readonly #tree: ReviewTree;
  readonly #lenses: ReviewLenses;
  readonly #marks: ReviewMarks;
  readonly #subscriptions: Disposable[];
  #contexts = "";

  constructor(private readonly files: ShownFiles) {
    this.#tree = new ReviewTree(files);
    this.#lenses = new ReviewLenses(files);
    this.#marks = new ReviewMarks(files);
    this.#subscriptions = [
      this.#tree,
      this.#lenses,
      this.#marks,
      languages.registerCodeLensProvider([{ scheme: "file" }, { scheme: SCHEME }], this.#lenses),
      window.onDidChangeVisibleTextEditors(() => this.redraw()),
      window.tabGroups.onDidChangeTabs(() => this.#tellContexts()),
      window.tabGroups.onDidChangeTabGroups(() => this.#tellContexts()),
    ];
  }

  /** Something was proposed or decided. */
  refresh(): void {
    this.#tree.refresh();
    this.redraw();
    this.#tellContexts();
  }

  /** Hunks may have moved. */
  redraw(): void {
    this.#lenses.refresh();
    this.#marks.draw();
  }

  dispose(): void {
    for (const it of this.#subscriptions) {
      it.dispose();
    }
  }

  /** `odin.reviewPending`: something is; `odin.reviewActive`: the tab in front shows it, a `file` or a `set` of them. */
  #tellContexts(): void {
    const contexts = { "odin.reviewPending": this.files.pending.length > 0, "odin.reviewActive": tabs.kindInFront() };
    if (JSON.stringify(contexts) !== this.#contexts) {
      this.#contexts = JSON.stringify(contexts);
      for (const [key, value] of Object.entries(contexts)) {
        void commands.executeCommand("setContext", key, value);
      }
    }
  }
}
