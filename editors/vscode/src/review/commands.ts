// What the user can do with a review, from lenses, the tree, titles of tabs, keys and the palette.

import { commands, type Disposable, Uri, window } from "vscode";
import { inBackground } from "../background";
import { t } from "../l10n";
import { isDecided, isPending, pendingIn } from "../session/reviews";
import { askForText, tellUser } from "../telling";
import { changesAtCursor, linesIn } from "./cursor";
import type { Decisions } from "./decisions";
import type { ShownFiles } from "./files";
import type { Chosen, Shown } from "./shown";
import type { Stage } from "./stage";
import { isReview, isReviewInFront, kindInFront, urisOf } from "./tabs";
import type { Node } from "./tree";
import { type Bookmark, nextAfter, nextBeyond } from "./walk";

/** A lens names a hunk or a file, the tree hands its node, a title's button the file's address; keys say nothing. */
type Target = { hunkId?: string; uri?: Uri; proposalId?: string } | Node | Uri | undefined;

type Decide = (chosen: readonly Chosen[], isInEditor: boolean) => Promise<void>;

export function registerReviewCommands(
  files: ShownFiles,
  decisions: Decisions,
  stage: Stage,
  bookmark: Bookmark,
): Disposable[] {
  const register = (verb: string, run: (target: Target) => Promise<void>) =>
    commands.registerCommand(`odin.vscode.${verb}`, (target?: Target) => run(target));
  const decide = async (chosen: readonly Chosen[], target: Target, how: Decide) => {
    const last = chosen.at(-1);
    if (!last) {
      inBackground(tellUser("info", t("There is no proposed change at the cursor.")));
      return;
    }
    const isInEditor = !isNode(target);
    await how(chosen, isInEditor);
    if (isInEditor) {
      await moveOn(files, stage, last);
    }
  };
  const decideChange = (target: Target, how: Decide) => decide(changesAt(files, bookmark, target), target, how);
  const decideFile = (target: Target, how: Decide) => {
    const file = fileAt(files, target);
    return decide(
      files.pending.filter((it) => it.shown === file),
      target,
      how,
    );
  };
  const accept = (chosen: readonly Chosen[], isInEditor: boolean) => decisions.accept(chosen, isInEditor);
  const reject = (chosen: readonly Chosen[], isInEditor: boolean) => decisions.reject(chosen, undefined, isInEditor);
  const rejectBecause = async (chosen: readonly Chosen[], isInEditor: boolean) => {
    const reason = await askForText({
      title: t("Odin: Reject"),
      prompt: t("Reason (optional). Odin passes it to the model."),
      ignoreFocusOut: true,
    });
    if (reason !== undefined) {
      await decisions.reject(chosen, reason.trim(), isInEditor);
    }
  };
  return [
    register("review", (target) => stage.showAll(proposalOf(target))),
    register("showChange", async (target) => {
      const [chosen] = changesAt(files, bookmark, target);
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
    register("reopen", async (target) => {
      const chosen = decidedAt(files, bookmark, decisions, target);
      if (chosen.length > 0) {
        await decisions.reopen(chosen, !isNode(target));
      } else {
        inBackground(tellUser("info", t("There is no decided change at the cursor.")));
      }
    }),
    register("acceptRestOfTurn", () => decisions.acceptRest()),
    register("nextChange", () => go(files, stage, bookmark, 1)),
    register("previousChange", () => go(files, stage, bookmark, -1)),
  ];
}

/** What waits of what a target names, or of what is at the cursor. */
function changesAt(files: ShownFiles, bookmark: Bookmark, target: Target): Chosen[] {
  const found = (named(files, target) ?? here(files, bookmark)).filter((it) => isPending(it.hunk));
  return isNode(target) ? found : found.slice(0, 1);
}

/** What is decided of what a target names, or of what is at the cursor; else what was decided last. */
function decidedAt(files: ShownFiles, bookmark: Bookmark, { latest }: Decisions, target: Target): Chosen[] {
  const found = (named(files, target) ?? here(files, bookmark)).filter((it) => isDecided(it.hunk));
  return found.length > 0 || target ? found : files.all.filter((it) => isDecided(it.hunk) && latest.has(it.hunk.id));
}

function named(files: ShownFiles, target: Target): readonly Chosen[] | undefined {
  if (isNode(target)) {
    return files.all.filter((it) => it.shown === target.shown && (!target.hunk || it.hunk.id === target.hunk.id));
  }
  const hunkId = target instanceof Uri ? undefined : target?.hunkId;
  return hunkId ? files.all.filter((it) => it.hunk.id === hunkId) : undefined;
}

/** The changes where the user is. Among several files VS Code does not say for certain which has the cursor. */
function here(files: ShownFiles, bookmark: Bookmark): Chosen[] {
  if (kindInFront() === "set") {
    return bookmark.here ? [bookmark.here] : [];
  }
  const editor = window.activeTextEditor;
  return editor ? changesAtCursor(files, editor) : [];
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

/** After a decision: to the next change below that waits. A file of which nothing waits any more goes by itself. */
async function moveOn(files: ShownFiles, stage: Stage, decided: Chosen): Promise<void> {
  const next = nextAfter(files.all, decided.hunk.id);
  const kind = kindInFront();
  if (next?.shown.isText && (kind === "set" || (kind === "file" && pendingIn(decided.shown.file).length > 0))) {
    await stage.show(next.shown, next.hunk);
  }
}

/** To the next change from where the user is, in this file or the next one, and around. */
async function go(files: ShownFiles, stage: Stage, bookmark: Bookmark, step: 1 | -1): Promise<void> {
  const all = files.all.filter((it) => it.shown.isText);
  const ordered = step === 1 ? all : all.toReversed();
  const next = kindInFront() === "set" ? nextAfter(ordered, bookmark.here?.hunk.id) : nextInFile(files, ordered, step);
  if (next) {
    await stage.show(next.shown, next.hunk);
  } else {
    inBackground(tellUser("info", t("There are no changes to review.")));
  }
}

function nextInFile(files: ShownFiles, ordered: readonly Chosen[], step: 1 | -1): Chosen | undefined {
  const editor = window.activeTextEditor;
  const file = fileAt(files, undefined);
  const last = ordered.findLastIndex((it) => it.shown === file);
  return nextBeyond(ordered, (it) => {
    const line = editor && it.shown === file ? linesIn(files, it, editor)?.[0] : undefined;
    const isBelow = line !== undefined && editor && (line - editor.selection.active.line) * step > 0;
    return isBelow || it === ordered[last + 1];
  });
}
