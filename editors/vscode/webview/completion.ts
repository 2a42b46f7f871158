// What `@` and `/` may stand for, in a list above the text; the keys stay in the text.

import type { Completion, Sign } from "../src/chat/messages";
import { t } from "../src/l10n";
import { SIGNS } from "./attachments";
import { h, icon } from "./dom";

const ICONS = { ...SIGNS, command: "terminal" } as const;
const MENTION = /(?:^|\s)(?<sign>@)(?<word>[^\s@]*)$/;
const COMMAND = /^(?<sign>\/)(?<word>[\w:-]*)$/;

export class CompletionList {
  readonly element = h("ul", {
    id: "completions",
    role: "listbox",
    "aria-label": t("Mentions and commands"),
    hidden: true,
  });
  #completions: Completion[] = [];
  #chosen = 0;
  #request = 0;

  constructor(
    private readonly text: HTMLTextAreaElement,
    private readonly ask: (request: number, sign: Sign, word: string) => void,
    private readonly choose: (completion: Completion, sign: Sign, typed: number) => void,
  ) {
    text.addEventListener("input", () => this.#look());
    text.addEventListener("blur", () => this.close());
    text.setAttribute("aria-autocomplete", "list");
    text.setAttribute("aria-controls", this.element.id);
  }

  get isOpen(): boolean {
    return !this.element.hidden;
  }

  show(request: number, completions: Completion[]): void {
    if (request !== this.#request || this.#typed === undefined) return;
    this.#completions = completions;
    this.#chosen = 0;
    this.element.replaceChildren(...completions.map((it, index) => this.#row(it, index)));
    this.element.hidden = completions.length === 0;
    this.#mark();
  }

  close(): void {
    this.#request += 1;
    this.element.hidden = true;
    this.text.removeAttribute("aria-activedescendant");
  }

  /** Whether the key was for the list. */
  takesKey(event: KeyboardEvent): boolean {
    if (!this.isOpen) return false;
    const count = this.#completions.length;
    if (event.key === "ArrowDown") this.#chosen = (this.#chosen + 1) % count;
    else if (event.key === "ArrowUp") this.#chosen = (this.#chosen + count - 1) % count;
    else if (event.key === "Escape") this.close();
    else if (event.key === "Enter" || event.key === "Tab") this.#take(this.#chosen);
    else return false;
    if (this.isOpen) this.#mark();
    return true;
  }

  get #typed(): { sign: Sign; word: string } | undefined {
    const before = this.text.value.slice(0, this.text.selectionStart);
    const { sign, word } = (before.match(COMMAND) ?? before.match(MENTION))?.groups ?? {};
    return word === undefined ? undefined : { sign: sign as Sign, word };
  }

  #look(): void {
    const typed = this.#typed;
    if (typed === undefined) this.close();
    else {
      this.#request += 1;
      this.ask(this.#request, typed.sign, typed.word);
    }
  }

  #take(index: number): void {
    const completion = this.#completions[index];
    const typed = this.#typed;
    this.close();
    if (completion && typed) this.choose(completion, typed.sign, typed.word.length + 1);
  }

  #row(completion: Completion, index: number): HTMLElement {
    // Not `click`: the text would lose the focus before.
    const take = (event: Event) => {
      event.preventDefault();
      this.#take(index);
    };
    return h(
      "li",
      { id: `completion-${index}`, role: "option", on: { mousedown: take } },
      icon(ICONS[completion.icon]),
      h("span", { class: "completion-word", text: completion.word }),
      h("span", { class: "completion-detail", text: completion.detail }),
    );
  }

  #mark(): void {
    for (const [index, row] of [...this.element.children].entries()) {
      row.setAttribute("aria-selected", String(index === this.#chosen));
      if (index === this.#chosen && "scrollIntoView" in row) row.scrollIntoView?.({ block: "nearest" });
    }
    this.text.setAttribute("aria-activedescendant", `completion-${this.#chosen}`);
  }
}
