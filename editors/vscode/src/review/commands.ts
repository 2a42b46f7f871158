// What the user can do with a review, from lenses, the tree, titles of tabs, keys and the palette.

import { commands, type Disposable, type TextEditor, Uri, window } from "vscode";
import type { Decisions } from "./decisions";
import type { ShownFiles } from "./files";
import type { Stretch } from "./layout";
import { pendingIn } from "./reviews";
import type { Chosen, Shown } from "./shown";
import type { Stage } from "./stage";
import { isReview, isReviewInFront, urisOf } from "./tabs";
import type { Node } from "./tree";

/** A lens names a hunk or a file, the tree hands its node, a title's button the file's address; keys say nothing. */
type Target = { hunkId?: string; uri?: Uri; proposalId?: string } | Node | Uri | undefined;

const NOTHING_HERE = "There is no proposed change at the cursor.";

export function registerReviewCommands(files: ShownFiles, decisions: Decisions, stage: Stage): Disposable[] {
  const register = (verb: string, run: (target: Target) => Promise<void>) =>
    commands.registerCommand(`odin.vscode.${verb}`, (target?: Target) => run(target));
  const decideChange = async (target: Target, decide: (chosen: Chosen[], isInEditor: boolean) => Promise<void>) => {
    const chosen = changesAt(files, target);
    const [first] = chosen;
    if (!first) {
      void window.showInformationMessage(NOTHING_HERE);
      return;
    }
    await decide(chosen, !isNode(target));
    const next = pendingIn(first.shown.file).find((it) => it.id !== first.hunk.id);
    if (!target && next && isReviewInFront()) {
      await stage.show(first.shown, next);
    }
  };
  const decideFile = async (target: Target, decide: (chosen: Chosen[], isInEditor: boolean) => Promise<void>) => {
    const file = fileAt(files, target);
    if (file) {
      await decide(
        files.pending.filter((it) => it.shown === file),
        !isNode(target),
      );
    } else {
      void window.showInformationMessage(NOTHING_HERE);
    }
  };
  const accept = (chosen: readonly Chosen[], isInEditor: boolean) => decisions.accept(chosen, isInEditor);
  const reject = (chosen: readonly Chosen[], isInEditor: boolean) => decisions.reject(chosen, undefined, isInEditor);
  const rejectBecause = async (chosen: readonly Chosen[], isInEditor: boolean) => {
    const reason = await window.showInputBox({
      title: "Odin: Reject",
      prompt: "Why? Odin's model is told; it may be left empty.",
      ignoreFocusOut: true,
    });
    if (reason !== undefined) {
      await decisions.reject(chosen, reason.trim(), isInEditor);
    }
  };
  return [
    register("review", (target) => stage.showAll(proposalOf(target))),
    register("showChange", async (target) => {
      const [chosen] = changesAt(files, target);
      const file = chosen?.shown ?? fileAt(files, target);
      await (file ? stage.show(file, chosen?.hunk) : stage.showAll());
    }),
    register("acceptChange", (target) => decideChange(target, accept)),
    register("rejectChange", (target) => decideChange(target, reject)),
    register("rejectChangeBecause", (target) => decideChange(target, rejectBecause)),
    register("acceptFile", (target) => decideFile(target, accept)),
    register("rejectFile", (target) => decideFile(target, reject)),
    register("acceptAll", (target) =>
      accept(files.pendingOf(proposalOf(target)), !proposalOf(target) && isReviewInFront()),
    ),
    register("rejectAll", (target) =>
      reject(files.pendingOf(proposalOf(target)), !proposalOf(target) && isReviewInFront()),
    ),
    register("acceptRestOfTurn", () => decisions.acceptRest()),
    register("nextChange", () => go(files, stage, 1)),
    register("previousChange", () => go(files, stage, -1)),
  ];
}

/** What a target names, or what is at the cursor. */
function changesAt(files: ShownFiles, target: Target): Chosen[] {
  if (isNode(target)) {
    return files.pending.filter((it) => it.shown === target.shown && (!target.hunk || it.hunk === target.hunk));
  }
  if (target && !(target instanceof Uri) && target.hunkId) {
    return files.pending.filter((it) => it.hunk.id === target.hunkId);
  }
  const editor = window.activeTextEditor;
  return editor ? files.pending.filter((it) => coversCursor(files, it, editor)).slice(0, 1) : [];
}

function fileAt(files: ShownFiles, target: Target): Shown | undefined {
  if (isNode(target)) {
    return target.shown;
  }
  const named = target instanceof Uri ? target : target?.uri;
  const { activeTab } = window.tabGroups.activeTabGroup;
  const inFront = activeTab && isReview(activeTab) && urisOf(activeTab).length === 2 ? urisOf(activeTab) : [];
  const candidates = [named, window.activeTextEditor?.document.uri, ...inFront];
  for (const uri of candidates.filter((it) => it !== undefined)) {
    const found = files.proposedAs(uri) ?? files.reviewsOf(uri).find((it) => pendingIn(it.file).length > 0);
    if (found) {
      return found;
    }
  }
  return undefined;
}

function proposalOf(target: Target): string | undefined {
  return target && !(target instanceof Uri) && !isNode(target) ? target.proposalId : undefined;
}

function isNode(target: Target): target is Node {
  return target !== undefined && "shown" in target;
}

function coversCursor(files: ShownFiles, { shown: it, hunk }: Chosen, editor: TextEditor): boolean {
  const range = linesIn(files, it, hunk.id, editor);
  const { line } = editor.selection.active;
  return range !== undefined && range[0] <= line && line <= range[1];
}

/** The first and last line of a hunk in an editor, if it shows the file on either side. */
function linesIn(files: ShownFiles, it: Shown, hunkId: string, editor: TextEditor): Stretch | undefined {
  const lines = it.texts.layout.of(hunkId);
  const { uri } = editor.document;
  if (files.proposedAs(uri) === it) {
    return lines?.proposed;
  }
  return files.reviewsOf(uri).includes(it) ? lines?.real : undefined;
}

/** To the next change from the cursor, in this file or the next one, and around. */
async function go(files: ShownFiles, stage: Stage, step: 1 | -1): Promise<void> {
  const pending = files.pending.filter((it) => it.shown.isText);
  const ordered = step === 1 ? pending : pending.toReversed();
  const editor = window.activeTextEditor;
  const here = fileAt(files, undefined);
  const after = ordered.find((it) => {
    const range = editor && it.shown === here ? linesIn(files, it.shown, it.hunk.id, editor) : undefined;
    return range && editor && (range[0] - editor.selection.active.line) * step > 0;
  });
  const others = ordered.slice(ordered.findLastIndex((it) => it.shown === here) + 1);
  const next = after ?? others[0] ?? ordered[0];
  if (next) {
    await stage.show(next.shown, next.hunk);
  } else {
    void window.showInformationMessage("There is nothing to review.");
  }
}
