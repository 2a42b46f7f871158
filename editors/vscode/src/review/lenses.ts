// Accept and Reject at each hunk: on the right of its diff, and in the file's own editor.

import { type CodeLens, type CodeLensProvider, type Command, EventEmitter, Range, type TextDocument } from "vscode";
import { t } from "../l10n";
import type { ReviewHunk } from "../protocol";
import { decisionOn, isInDocument, isPending, oneLine, pendingIn } from "../session/reviews";
import { lensOf } from "../telling";
import { SCHEME } from "./addresses";
import type { ShownFiles } from "./files";
import type { Shown } from "./shown";
import { isInEditor } from "./tabs";

export class ReviewLenses implements CodeLensProvider {
  readonly #changed = new EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.#changed.event;

  constructor(private readonly files: ShownFiles) {}

  refresh(): void {
    this.#changed.fire();
  }

  provideCodeLenses(document: TextDocument): CodeLens[] {
    if (document.uri.scheme === SCHEME) {
      const file = this.files.proposedAs(document.uri);
      return file ? file.file.hunks.flatMap((hunk) => this.#inDiff(file, hunk)) : [];
    }
    // A diff shows the file too, on its left: there is nothing to decide on that side.
    const files = isInEditor(document.uri) ? this.files.reviewsOf(document.uri) : [];
    return files.flatMap((file) => pendingIn(file.file).flatMap((hunk) => this.#inFile(file, hunk)));
  }

  dispose(): void {
    this.#changed.dispose();
  }

  #inDiff(file: Shown, hunk: ReviewHunk): CodeLens[] {
    const line = file.texts.layout.of(hunk.id)?.proposed[0];
    if (line === undefined) {
      return [];
    }
    const target = { hunkId: hunk.id };
    if (!isPending(hunk)) {
      const icon = isInDocument(hunk) ? "$(check)" : "$(close)";
      return lensesAt(line, [
        { title: decisionOn(hunk), command: "", icon },
        { title: t("Reopen"), command: "odin.vscode.reopen", arguments: [target] },
      ]);
    }
    const several = pendingIn(file.file).length > 1 && pendingIn(file.file)[0] === hunk;
    return lensesAt(line, [
      { title: t("Accept Change"), command: "odin.vscode.acceptChange", arguments: [target] },
      { title: t("Reject Change"), command: "odin.vscode.rejectChange", arguments: [target] },
      { title: t("Reject with Reason…"), command: "odin.vscode.rejectChangeBecause", arguments: [target] },
      ...(several
        ? [
            {
              title: t("Accept All Changes in File"),
              command: "odin.vscode.acceptFile",
              arguments: [{ uri: file.right }],
            },
          ]
        : []),
      ...[file.review.origin, ownReason(file, hunk)]
        .filter((it) => it)
        .map((it) => ({ title: oneLine(it ?? ""), command: "" })),
    ]);
  }

  #inFile(file: Shown, hunk: ReviewHunk): CodeLens[] {
    const line = file.texts.layout.of(hunk.id)?.real[0];
    if (line === undefined) {
      return [];
    }
    const target = { hunkId: hunk.id };
    return lensesAt(line, [
      {
        title: t("{0}: Show Change", file.review.origin || "Odin"),
        command: "odin.vscode.showChange",
        arguments: [target],
      },
      { title: t("Accept"), command: "odin.vscode.acceptChange", arguments: [target] },
      { title: t("Reject"), command: "odin.vscode.rejectChange", arguments: [target] },
    ]);
  }
}

/** A reason that all hunks of a file share says nothing of this one. */
function ownReason({ file }: Shown, hunk: ReviewHunk): string {
  return file.hunks.some((it) => it !== hunk && it.reason === hunk.reason) ? "" : hunk.reason;
}

function lensesAt(line: number, commands: readonly (Command & { icon?: string })[]): CodeLens[] {
  return commands.map(({ icon, ...command }) => lensOf(new Range(line, 0, line, 0), command, icon && `${icon} `));
}
