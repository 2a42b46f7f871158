// The tabs of reviews: when they come, where the user is taken, when they go.

import { commands, Position, Range, type Tab, window } from "vscode";
import { inBackground } from "../background";
import { t } from "../l10n";
import type { Receipt, Review, ReviewHunk } from "../protocol";
import { nameOf, pendingIn, summary, titleOf } from "../session/reviews";
import { tellUser } from "../telling";
import { sameUri } from "./addresses";
import type { ShownFiles } from "./files";
import { firstAccepted, isAcceptedIn } from "./outcomes";
import { acceptedUri, type Shown } from "./shown";
import * as tabs from "./tabs";
import { type Bookmark, nextAfter } from "./walk";

/** How the user is, as far as tabs are concerned. */
export interface User {
  isTyping(): boolean;
  /** The last decision was made in an editor: that is where they go on. */
  isInEditor(): boolean;
  /** Remember where the focus is; what comes back puts it there again. */
  holdFocus(): () => Promise<void>;
  /** They look at it where they have asked for it. */
  sees(review: Review): boolean;
}

export class Stage {
  constructor(
    private readonly files: ShownFiles,
    private readonly user: User,
    private readonly bookmark: Bookmark,
    private readonly moved: () => void,
  ) {}

  /** Show the diff of a file, at a hunk of it. */
  async show(it: Shown, hunk?: ReviewHunk, how: tabs.HowToShow = {}): Promise<void> {
    if (!it.isText) {
      inBackground(tellUser("info", t("{0} cannot be shown as text.", nameOf(it.file.uri))));
      return;
    }
    const line = hunk && it.texts.layout.of(hunk.id)?.proposed[0];
    if (how.preserveFocus || line === undefined || !(await tabs.goInSet({ right: it.right, line }))) {
      await tabs.showDiff(sidesOf(it), { line, ...how });
    }
    if (!how.background) {
      this.bookmark.put(hunk?.id);
      this.moved();
    }
  }

  /** Show what is pending, of one proposal or of all: several files in one tab. */
  async showAll(proposalId?: string): Promise<void> {
    const wanted = this.files.pendingOf(proposalId).map((it) => it.shown);
    const files = [...new Set(wanted)].filter((it) => it.isText);
    const [first] = files;
    if (files.length > 1) {
      await tabs.showAll(files.map(sidesOf));
    } else if (first) {
      await this.show(first, pendingIn(first.file)[0]);
    } else {
      await commands.executeCommand("odin.reviewTree.focus");
    }
  }

  /** Nobody who types is taken anywhere: then a tab waits in the background, and a message says so. */
  async arrive(files: readonly Shown[]): Promise<void> {
    const pending = this.files.pending.filter((it) => files.includes(it.shown));
    const texts = files.filter((it) => it.isText);
    const first = pending.find((it) => it.shown.isText);
    if (first && this.user.sees(first.shown.review)) {
      return;
    }
    if (tabs.reviewTabs().some((tab) => texts.some((it) => isIn(tab, it)))) {
      return;
    }
    if (first && !this.user.isTyping() && !tabs.isReviewInFront()) {
      await (texts.length > 1
        ? this.#showKeepingFocus(first.shown.review.proposalId)
        : this.show(first.shown, first.hunk, { preserveFocus: true }));
      return;
    }
    if (first) {
      await this.show(first.shown, first.hunk, { preserveFocus: true, background: true });
    }
    if (pending.length > 0) {
      const what = t("Odin proposes {0}.", summary(pending.map((it) => ({ ...it.shown, hunk: it.hunk }))));
      if (await tellUser("info", what, t("Review"))) {
        await this.showAll(first?.shown.review.proposalId);
      }
    }
  }

  async #showKeepingFocus(proposalId: string): Promise<void> {
    const giveBack = this.user.holdFocus();
    await this.showAll(proposalId);
    await giveBack();
  }

  /** All of a file is decided, but not of the others: on to the next one. */
  async goOn(done: Shown): Promise<void> {
    const own = () => tabs.diffTabsOf(done.right);
    const next = nextAfter(this.files.all, done.file.hunks.at(-1)?.id);
    if (own().some(isInFront) && next?.shown.isText) {
      await this.show(next.shown, next.hunk, { preserveFocus: !this.user.isInEditor() });
    }
    await tabs.close(own, [done.right]);
  }

  /** Close the diffs. Who decided in one of them goes on in the file, where the change is and can be undone. */
  async leave(files: readonly Shown[], receipts: readonly Receipt[]): Promise<void> {
    const tabsOf = (it: Shown) => [...tabs.diffTabsOf(it.right), ...tabs.multiDiffTabsOf(it.right)];
    const own = () => [...new Set(files.flatMap(tabsOf))];
    const active = own().find(isInFront);
    const here = active && files.find((it) => isAcceptedIn(it.file, receipts) && isIn(active, it));
    if (here && here.file.operation !== "delete") {
      await this.#showAccepted(here, receipts, active);
    }
    const documents = files.map((it) => it.right);
    await tabs.close(own, documents);
    await Promise.all(files.map((it) => it.texts.arrived()));
  }

  async #showAccepted({ file, texts }: Shown, receipts: readonly Receipt[], tab: Tab): Promise<void> {
    const place = firstAccepted(texts, receipts);
    const at = place && new Position(place.line, place.character);
    const options = {
      viewColumn: tab.group.viewColumn,
      preserveFocus: !this.user.isInEditor(),
      preview: false,
      selection: at && new Range(at, at),
    };
    // A file that cannot be shown is no reason to leave its diff open.
    await window.showTextDocument(acceptedUri(file), options).then(undefined, () => undefined);
  }
}

function sidesOf(it: Shown): tabs.Sides {
  return { title: titleOf(it.file), left: it.left, right: it.right };
}

function isInFront(tab: Tab): boolean {
  return tab.isActive && tab.group.isActive;
}

function isIn(tab: Tab, it: Shown): boolean {
  return tabs.urisOf(tab).some((uri) => sameUri(uri, it.right));
}
