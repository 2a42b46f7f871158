// What goes with the next message: what is looked at, what was attached, and what the text mentions by `@`.

import type { Attachment } from "../src/chat/messages";
import { lastLineOf } from "../src/context";
import { t } from "../src/l10n";
import type { ContextItem } from "../src/protocol";
import { nameOf } from "../src/session/reviews";
import { Drawn, h, icon, iconButton } from "./dom";

export const SIGNS: Readonly<Record<Attachment["kind"], string>> = {
  file: "file",
  folder: "folder",
  problems: "warning",
  selection: "selection",
  symbol: "symbol-method",
};

export class Attachments {
  readonly element = h("ul", { class: "chips", "aria-label": t("Sent with your message") });
  #drawn = new Drawn(this.element);
  #text = "";
  #looked: Attachment | null = null;
  /** What was looked at when the user took it away. */
  #removed = "";
  attached: Attachment[] = [];
  /** What the words after `@` stand for. */
  mentions: Record<string, Attachment> = {};

  /** `changed`: something was taken away, and with a mention its word. */
  constructor(private readonly changed: (word?: string) => void) {}

  look(looked: Attachment | null): void {
    this.#looked = looked;
    if (this.#removed !== keyOf(looked)) this.#removed = "";
    this.show(this.#text);
  }

  attach(attachments: readonly Attachment[]): void {
    this.attached = [...this.attached, ...attachments];
    this.show(this.#text);
  }

  /** The message is sent: the next one begins with what is looked at. */
  leave(): void {
    this.#removed = "";
    this.attached = [];
  }

  /** What goes with a message that says this, each thing once. */
  with(text: string): Attachment[] {
    return this.#chips(text).map((it) => it.attachment);
  }

  show(text: string): void {
    this.#text = text;
    const chips = this.#chips(text);
    this.#drawn.show(
      chips.map((it) => it.attachment),
      () => chips.map(({ attachment, remove }) => chipOf(attachment, remove)),
    );
  }

  #chips(text: string): { attachment: Attachment; remove: () => void }[] {
    const chips = new Map<string, { attachment: Attachment; remove: () => void }>();
    const add = (attachment: Attachment, remove: () => void) => {
      const key = keyOf(attachment);
      if (!chips.has(key)) chips.set(key, { attachment, remove });
    };
    const looked = this.#looked;
    if (looked && this.#removed !== keyOf(looked)) {
      add(looked, () => {
        this.#removed = keyOf(looked);
        this.changed();
      });
    }
    for (const attachment of this.attached) {
      add(attachment, () => {
        this.attached = this.attached.filter((it) => it !== attachment);
        this.changed();
      });
    }
    for (const [word, attachment] of Object.entries(this.mentions)) {
      if (mentionOf(word).test(text)) add(attachment, () => this.changed(word));
    }
    return [...chips.values()];
  }
}

/** The word where it is mentioned, and not the beginning of a longer one: `@src/` is not in `@src/a.ts`. */
export function mentionOf(word: string): RegExp {
  const exactly = word.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`@${exactly}(?![\\p{L}\\p{N}_/.-]*[\\p{L}\\p{N}_])`, "u");
}

function chipOf(attachment: Attachment, remove: () => void): HTMLElement {
  const label = attachment.label;
  return h(
    "li",
    { class: "chip", title: t("Sent with your message: {0}", label) },
    icon(SIGNS[attachment.kind]),
    h("span", { class: "chip-label" }, ...partsOf(attachment, label)),
    iconButton("close", t("Do not send {0}", label), remove),
  );
}

/** The name of the file is cut last. */
function partsOf(attachment: Attachment, label: string): HTMLElement[] {
  const isSelection = attachment.kind === "selection";
  const name = isSelection ? nameOf(attachment.uri) : (/[^/]+\/?$/.exec(label)?.[0] ?? label);
  const shown = h("span", { class: "chip-name", text: name });
  if (isSelection) return [shown, h("span", { text: ` ${linesIn(attachment.range)}` })];
  return name === label ? [shown] : [h("span", { text: label.slice(0, -name.length) }), shown];
}

function linesIn(range: NonNullable<ContextItem["range"]>): string {
  const [first, last] = [range.start.line + 1, lastLineOf(range) + 1];
  return first === last ? t("line {0}", first) : t("lines {0}–{1}", first, last);
}

function keyOf(attachment: Attachment | null): string {
  return attachment ? JSON.stringify([attachment.uri, "range" in attachment ? attachment.range : attachment.kind]) : "";
}
