// What `@` may stand for, in a list above the text; the keys stay in the text.

import type { Completion } from "../src/chat/messages";
import { h, icon } from "./dom";

const ICONS = { file: "file", symbol: "symbol-method", selection: "selection", problems: "warning" } as const;
const MENTION = /(^|\s)@([^\s@]*)$/;

export class CompletionList {
  readonly element = h("ul", { id: "completions", role: "listbox", "aria-label": "Mentions", hidden: true });
  #completions: Completion[] = [];
  #chosen = 0;
  #request = 0;

  constructor(
    private readonly text: HTMLTextAreaElement,
    private readonly ask: (request: number, word: string) => void,
    private readonly choose: (completion: Completion, typed: number) => void,
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
    if (request !== this.#request || this.#word === undefined) return;
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

  get #word(): string | undefined {
    return this.text.value.slice(0, this.text.selectionStart).match(MENTION)?.[2];
  }

  #look(): void {
    const word = this.#word;
    if (word === undefined) this.close();
    else {
      this.#request += 1;
      this.ask(this.#request, word);
    }
  }

  #take(index: number): void {
    const completion = this.#completions[index];
    const word = this.#word;
    this.close();
    if (completion && word !== undefined) this.choose(completion, word.length + 1);
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
