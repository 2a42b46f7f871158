// A file under review: its text, the text that is proposed for it, and a document for each, both of which can be edited.

import type { TextDocument, TextDocumentContentChangeEvent } from "vscode";
import type { ReviewFile, ReviewHunk } from "../protocol";
import { isInDocument, isPending } from "../session/reviews";
import { Layout, type Settled } from "./layout";
import { OwnTexts } from "./own-texts";
import { type Pen, Side } from "./side";
import {
  type Change,
  changed,
  changedBelow,
  difference,
  moved,
  type Placed,
  type Sheet,
  textsIn,
  typedInto,
  unified,
} from "./texts";

const CRLF = 2;

export type Decided = { decision: "accept" | "reject" } | { decision: "modify"; text: string };

export class FileUnderReview {
  sheet: Sheet = { base: "", hunks: [] };
  /** Hunks that are decided: their text is the file's own. */
  settled: readonly Settled[] = [];
  #layout = new Layout(this.sheet);
  #real: Side | undefined;
  #isRead = false;
  #proposed: Side | undefined;
  readonly own = new OwnTexts();

  constructor(
    public file: ReviewFile,
    private readonly pen: Pen,
  ) {
    for (const hunk of file.hunks) {
      if (hunk.text !== undefined) {
        this.own.write(hunk, unified(hunk.text));
        this.own.settle([hunk.id]);
      }
    }
    if (file.operation === "create") {
      this.#place(true);
    }
  }

  /** Only the text of a file can be edited, not that it goes or gets another name. */
  get isEditable(): boolean {
    return this.file.operation === "edit" || this.file.operation === "create";
  }

  /** The text with what is proposed. */
  get proposed(): string {
    return this.#withLineEnds(this.layout.proposed.text);
  }

  /** Where everything stands. */
  get layout(): Layout {
    if (this.#layout.sheet !== this.sheet) {
      this.#layout = new Layout(this.sheet, this.settled);
    }
    return this.#layout;
  }

  /** The file is open in the editor. */
  openReal(document: TextDocument): void {
    if (this.file.operation === "create") {
      return;
    }
    const text = unified(document.getText());
    this.#real = new Side(document, this.pen, (isDone) => this.#sent(isDone));
    if (this.#isRead) {
      this.#followReal(listed(difference(this.sheet.base, text)));
    } else {
      this.#isRead = true;
      this.sheet = { base: text, hunks: [] };
      this.#place(true);
    }
    this.#send();
  }

  closeReal(): void {
    this.#real?.end();
    this.#real = undefined;
  }

  /** The proposed text is open in the editor, perhaps with what was unsaved in the window before. The result are words
   * of the user that have no place any more. */
  openProposed(document: TextDocument): string[] {
    const lost = document.isDirty ? this.#recall(unified(document.getText())) : [];
    this.#proposed = new Side(document, this.pen, () => this.#send());
    this.#send();
    return lost;
  }

  closeProposed(): void {
    this.#proposed = undefined;
    this.own.revert();
    this.#place(false);
  }

  /** What the server says now. The result are words of the user for hunks that somebody else has decided. */
  update(file: ReviewFile, version?: number): string[] {
    const reopened = file.hunks.filter((hunk) => isPending(hunk) && this.settled.some((it) => it.id === hunk.id));
    this.own.unsettle(reopened.map((it) => it.id));
    this.file = file;
    const lost = this.own.lose(file.hunks);
    const isCurrent = this.#real?.document.version === version && this.#real?.known === this.sheet.base;
    this.#place(isCurrent || this.file.operation === "create");
    this.#send();
    return lost;
  }

  /** Somebody typed into the file. */
  realTyped(changes: readonly TextDocumentContentChangeEvent[]): void {
    if (this.#real) {
      this.#followReal(this.#real.typed(changes, this.sheet.base));
      this.#send();
    }
  }

  /** Somebody typed into the text that is proposed. */
  proposedTyped(changes: readonly TextDocumentContentChangeEvent[]): void {
    if (!this.#proposed || !this.isEditable) {
      return;
    }
    for (const change of this.#proposed.typed(changes, this.layout.proposed.text)) {
      const { sheet, edits } = typedInto(this.sheet, change);
      this.settled = edits.toReversed().reduce(allMoved, this.settled);
      this.sheet = sheet;
    }
    for (const { id, text } of this.sheet.hunks) {
      const hunk = this.file.hunks.find((it) => it.id === id);
      if (hunk) {
        this.own.write(hunk, text);
      }
    }
    this.#send();
  }

  /** The user accepts a hunk as it stands: with their own text, if they have changed it. One that they have undone is
   * not wanted. */
  decide(hunkId: string): Decided {
    this.own.settle([hunkId]);
    const own = this.own.of(hunkId);
    if (own === undefined) {
      return { decision: "accept" };
    }
    const hunk = this.file.hunks.find((it) => it.id === hunkId);
    const isUndone = this.file.operation === "edit" && own === unified(hunk?.oldText ?? "");
    return isUndone ? { decision: "reject" } : { decision: "modify", text: this.#withLineEnds(own) };
  }

  /** When the file has all that was typed for it. */
  async arrived(): Promise<void> {
    while (this.#real?.isSending) {
      await this.#real.arrived;
    }
  }

  #recall(text: string): string[] {
    const texts = text === this.layout.proposed.text ? [] : textsIn(this.sheet, text);
    for (const [index, own] of texts?.entries() ?? []) {
      const hunk = this.file.hunks.find((it) => it.id === this.sheet.hunks[index]?.id);
      if (hunk) {
        this.own.write(hunk, own);
      }
    }
    this.#place(false);
    return texts ? [] : [text];
  }

  #followReal(changes: readonly Change[]): void {
    if (this.file.operation === "edit") {
      for (const change of changes) {
        const { base, hunks } = changedBelow(this.sheet, change);
        const back = this.settled.flatMap((it) => this.#takenBack(it, change));
        this.settled = allMoved(this.settled, change);
        this.sheet = { base, hunks: apart([...hunks, ...back]) };
      }
    } else if (changes.length > 0) {
      this.sheet = { base: changes.reduce(changed, this.sheet.base), hunks: [] };
      this.#place(true);
    }
  }

  /** An accepted hunk waits again when its old text stands there again. The server says so only afterwards: until then
   * it is shown all the same. */
  #takenBack({ id, start, end }: Settled, by: Change): Placed[] {
    const hunk = this.file.hunks.find((it) => it.id === id);
    if (!hunk || !isInDocument(hunk) || by.start < start || end < by.end) {
      return [];
    }
    const old = unified(hunk.oldText);
    const before = this.sheet.base.slice(start, end);
    const after = changed(before, { start: by.start - start, end: by.end - start, text: by.text });
    return after === old ? [{ id, start, old, text: this.#wanted(hunk) }] : [];
  }

  /** What is to stand in place of a hunk. */
  #wanted({ id, newText }: ReviewHunk): string {
    return this.own.of(id) ?? unified(newText);
  }

  /** Put the hunks where the server says, or leave them where they have moved to if that is news of an older text. */
  #place(anew: boolean): void {
    const base = this.file.operation === "create" ? this.#created() : this.sheet.base;
    const { real } = this.layout;
    const hunks: Placed[] = [];
    const settled: Settled[] = [];
    for (const hunk of this.file.hunks.filter((it) => it.state !== "superseded")) {
      const { id } = hunk;
      const known = this.settled.find((it) => it.id === id) ?? this.sheet.hunks.find((it) => it.id === id);
      const start = anew ? real.offsetAt(hunk.range.start) : known?.start;
      const end = known && "end" in known && !anew ? known.end : real.offsetAt(hunk.range.end);
      const old = this.file.operation === "delete" ? base : unified(hunk.oldText);
      const isOld = start !== undefined && base.slice(start, start + old.length) === old;
      // What was accepted is told before it is done, and is shown until then as it was.
      const isDue = isInDocument(hunk) && isOld && (anew ? base.slice(start, end) === old : !("end" in (known ?? {})));
      if (isOld && (isPending(hunk) || isDue)) {
        hunks.push({ id, start, old, text: this.#wanted(hunk) });
      } else if (start !== undefined && !isPending(hunk)) {
        settled.push({ id, start, end });
      }
    }
    this.settled = settled;
    this.sheet = { base, hunks: apart(hunks) };
  }

  /** A file that does not exist until it is accepted. */
  #created(): string {
    const made = this.file.hunks.find(isInDocument);
    return made ? unified(made.text ?? made.newText) : "";
  }

  /** What was typed beside the hunks is the user's own edit of the file; the other side shows what became of it. */
  #send(): void {
    this.#real?.edit(this.sheet.base);
    this.#proposed?.refresh(this.layout.proposed.text);
  }

  #sent(isDone: boolean): void {
    if (!isDone && this.#real) {
      this.#followReal(listed(difference(this.sheet.base, this.#real.known)));
    }
    this.#send();
  }

  #withLineEnds(text: string): string {
    const created = this.file.operation === "create" && this.file.proposedText.includes("\r\n");
    return created || this.#real?.document.eol === CRLF ? text.replaceAll("\n", "\r\n") : text;
  }
}

function listed<T>(it: T | undefined): T[] {
  return it === undefined ? [] : [it];
}

function allMoved(settled: readonly Settled[], by: Change): readonly Settled[] {
  return settled.map((it) => moved(it, by));
}

function apart(hunks: Placed[]): Placed[] {
  const ordered = hunks.toSorted((one, two) => one.start - two.start || one.old.length - two.old.length);
  return ordered.filter((hunk, index) => {
    const before = ordered[index - 1];
    return !before || before.start + before.old.length <= hunk.start;
  });
}
