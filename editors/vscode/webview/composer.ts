// Where the user writes: the text, its mode and model, what goes with it, and what waits to be said.

import type { Attachment, Completion, FromPage, Sign } from "../src/chat/messages";
import { t, tn } from "../src/l10n";
import type { Mode } from "../src/odin";
import type { Head, Waiting } from "../src/session/state";
import { modeName, moneyOf, short } from "../src/words";
import { Attachments, mentionOf } from "./attachments";
import { CompletionList } from "./completion";
import { Drawn, h, icon, iconButton, setAttribute, setText } from "./dom";
import { Pictures } from "./pictures";

export interface Draft {
  text: string;
  mode: Mode;
  /** What the words after `@` stand for. */
  mentions: Record<string, Attachment>;
  attached?: Attachment[];
}

const MODES: readonly Mode[] = ["ask_mode", "plan_mode", "edit_mode"];

function promptFor(mode: Mode): string {
  return {
    ask_mode: t("Ask about your code; @ adds files, / has commands"),
    plan_mode: t("What should Odin plan?"),
    edit_mode: t("What should Odin change?"),
  }[mode];
}

function explained(mode: Mode): string {
  return {
    ask_mode: t("Ask: answers, changes nothing"),
    plan_mode: t("Plan: writes a plan, changes nothing"),
    edit_mode: t("Edit: proposes changes for you to review"),
  }[mode];
}

export class Composer {
  readonly element = h("form", { class: "composer", "aria-label": t("Message to Odin") });
  readonly text = h("textarea", { rows: "1", "aria-label": t("Message") });
  readonly completions: CompletionList;
  readonly attachments = new Attachments((word) => this.#removed(word));
  readonly pictures = new Pictures(this.text, this.element);
  #mode = h("select", { "aria-label": t("Mode") });
  #model = h("button", { type: "button", class: "model" });
  #drawnModel = new Drawn(this.#model);
  #queueHead = h("div", { class: "queue-head", hidden: true });
  #queue = h("ul", { class: "queue", "aria-label": t("Queued messages") });
  #send = iconButton("send", t("Send (Enter)"), () => this.submit());
  #stop = iconButton("debug-stop", t("Cancel turn"), () => this.post({ type: "stop", queue: "keep" }));
  #figures = h("p", { class: "figures" });
  #recalled = 0;
  /** One that is being edited is not made anew for nothing. */
  #shownQueue = "";
  #shownQueueHead = "";
  said: string[] = [];

  constructor(
    private readonly post: (message: FromPage) => void,
    private readonly changed: (draft: Draft) => void,
  ) {
    this.completions = new CompletionList(
      this.text,
      (request, sign, word) => post({ type: "complete", request, sign, word }),
      (completion, sign, typed) => this.#complete(completion, sign, typed),
    );
    for (const value of MODES) this.#mode.append(h("option", { value, text: modeName(value) }));
    this.#mode.addEventListener("change", () => this.#changed());
    this.#model.addEventListener("click", () => post({ type: "run", command: "odin.vscode.selectModel" }));
    this.#send.classList.add("send");
    this.#stop.classList.add("stop");
    setAttribute(this.#stop, "title", t("Cancel turn (Escape)"));
    this.text.addEventListener("input", () => this.#changed());
    this.text.addEventListener("keydown", (event) => this.#key(event));
    this.element.addEventListener("submit", (event) => event.preventDefault());
    const bar = h(
      "div",
      { class: "bar" },
      this.#mode,
      this.#model,
      iconButton("attach", t("Add context"), () => post({ type: "attach" })),
      h("span", { class: "space" }),
      this.#stop,
      this.#send,
    );
    const box = h(
      "div",
      { class: "box" },
      this.completions.element,
      this.attachments.element,
      this.pictures.element,
      this.text,
      bar,
    );
    this.element.append(this.#queueHead, this.#queue, box, this.#figures);
    this.#changed();
  }

  get draft(): Draft {
    const { mentions, attached } = this.attachments;
    return { text: this.text.value, mode: this.#mode.value as Mode, mentions, attached };
  }

  set draft(draft: Draft) {
    this.text.value = draft.text;
    this.#mode.value = draft.mode;
    this.attachments.mentions = draft.mentions;
    this.attachments.attached = draft.attached ?? [];
    this.#changed();
  }

  write(text: string, mode?: Mode): void {
    this.draft = { ...this.draft, text, mode: mode ?? this.draft.mode, mentions: {} };
    this.text.focus();
  }

  /** Words that were sent and are not taken: they come before what is written now. */
  giveBack(text: string): void {
    const { draft } = this;
    this.draft = { ...draft, text: [text, draft.text].filter((it) => it.trim()).join("\n\n") };
    this.text.focus();
  }

  attach(attachments: readonly Attachment[]): void {
    this.attachments.attach(attachments);
    this.#changed();
    this.text.focus();
  }

  show(head: Head, model: string): void {
    const name = model ? model.slice(model.lastIndexOf("/") + 1) : t("Model");
    this.#drawnModel.show(name, () => [h("span", { text: name }), icon("chevron-down")]);
    setAttribute(this.#model, "aria-label", t("Select model: {0}", name));
    setAttribute(this.#model, "title", model ? t("Model: {0}", model) : t("Select model"));
    this.#stop.hidden = head.running === undefined;
    const label = head.running === undefined ? t("Send (Enter)") : t("Queue (Enter)");
    setAttribute(this.#send, "title", label);
    setAttribute(this.#send, "aria-label", label);
    const { contextTokens = 0, contextLimit = 0 } = head.usage;
    const fill = contextLimit > 0 && contextTokens > 0 ? Math.round((100 * contextTokens) / contextLimit) : undefined;
    const parts = [fill ? t("{0}% of the context used", fill) : "", moneyOf(head.costUsd)];
    setText(this.#figures, parts.filter(Boolean).join(" · "));
    setAttribute(
      this.#figures,
      "title",
      fill === undefined ? "" : t("{0} of {1} tokens", short(contextTokens), short(contextLimit)),
    );
    this.#showQueueHead(head);
    const queue = JSON.stringify(head.queue);
    if (queue === this.#shownQueue) return;
    this.#shownQueue = queue;
    this.#queue.replaceChildren(...head.queue.map((it) => this.#waiting(it)));
    this.#queue.hidden = head.queue.length === 0;
  }

  submit(): void {
    const { text, mode } = this.draft;
    if (!text.trim()) return;
    const images = this.pictures.takeAll();
    this.post({ type: "send", mode, text: text.trim(), attachments: this.attachments.with(text), images });
    this.attachments.leave();
    this.#recalled = 0;
    this.draft = { ...this.draft, text: "" };
  }

  #key(event: KeyboardEvent): void {
    if (event.isComposing) return;
    if (this.completions.takesKey(event)) {
      event.preventDefault();
      return;
    }
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      this.submit();
    } else if (event.key === "ArrowUp" || event.key === "ArrowDown") {
      this.#recall(event);
    }
  }

  /** Up goes through what was said before, as long as nothing else is written. */
  #recall(event: KeyboardEvent): void {
    const shown = this.#recalled > 0 ? this.said.at(-this.#recalled) : "";
    if (this.text.value !== shown) return;
    const next = this.#recalled + (event.key === "ArrowUp" ? 1 : -1);
    if (next < 0 || next > this.said.length) return;
    event.preventDefault();
    this.#recalled = next;
    this.draft = { ...this.draft, text: next > 0 ? (this.said.at(-next) ?? "") : "" };
  }

  #complete(completion: Completion, sign: Sign, typed: number): void {
    const end = this.text.selectionStart;
    const before = `${this.text.value.slice(0, end - typed)}${sign}${completion.word} `;
    if (completion.attachment) this.attachments.mentions[completion.word] = completion.attachment;
    this.text.value = before + this.text.value.slice(end);
    this.text.setSelectionRange(before.length, before.length);
    this.#changed();
  }

  /** A chip was taken away; of a mention the word stays, and means no more than that. */
  #removed(word?: string): void {
    if (word !== undefined) this.text.value = this.text.value.replaceAll(new RegExp(mentionOf(word), "gu"), () => word);
    this.#changed();
    this.text.focus();
  }

  /** What can be done with all that waits: for the turn that runs, or since one was cancelled. */
  #showQueueHead({ queue, running }: Head): void {
    const count = queue.filter((it) => !it.lost).length;
    const isRunning = running !== undefined;
    const shown = `${count} ${isRunning}`;
    if (shown === this.#shownQueueHead) return;
    this.#shownQueueHead = shown;
    this.#queueHead.hidden = count === 0;
    const cancel = (then: "next" | "return") => () => this.post({ type: "stop", queue: then });
    const [words, ...buttons] = isRunning
      ? [
          tn(count, "{0} message queued", "{0} messages queued"),
          iconButton("debug-step-over", t("Cancel the turn and send the next message"), cancel("next")),
          iconButton("reply", t("Cancel the turn and edit the queued messages"), cancel("return")),
        ]
      : [
          tn(count, "{0} message waiting", "{0} messages waiting"),
          iconButton("play", t("Send the queued messages"), () => this.post({ type: "queueResume" })),
          iconButton("reply", t("Edit the queued messages"), cancel("return")),
        ];
    this.#queueHead.replaceChildren(h("span", { class: "queue-text", text: words }), ...buttons);
  }

  #waiting(message: Waiting): HTMLElement {
    const { turnId, body, mode, lost } = message;
    const row = h("li", {}, icon(lost ? "history" : "watch"));
    const show = () => {
      const text = h("span", {
        class: "queue-text",
        text: body,
        title: `${modeName(mode)}: ${body}`,
      });
      row.replaceChildren(
        icon(lost ? "history" : "watch"),
        text,
        iconButton("send", lost ? t("Send") : t("Send to the running turn now"), () =>
          this.post({ type: "queueSend", turnId }),
        ),
        iconButton("edit", t("Edit queued message"), edit),
        iconButton("trash", t("Remove queued message"), () => this.post({ type: "queueRemove", turnId })),
      );
    };
    const edit = () => {
      const field = h("textarea", { rows: "2", "aria-label": t("Queued message") });
      field.value = body;
      field.addEventListener("keydown", (event) => {
        if (event.isComposing) return;
        if (event.key === "Enter" && !event.shiftKey) {
          event.preventDefault();
          if (field.value.trim()) this.post({ type: "queueEdit", turnId, text: field.value.trim() });
          show();
        } else if (event.key === "Escape") {
          event.preventDefault();
          show();
        }
      });
      row.replaceChildren(field);
      field.focus();
    };
    show();
    return row;
  }

  #changed(): void {
    const { mode } = this.draft;
    setAttribute(this.text, "placeholder", promptFor(mode));
    setAttribute(this.#mode, "title", explained(mode));
    this.attachments.show(this.text.value);
    this.changed(this.draft);
  }
}
