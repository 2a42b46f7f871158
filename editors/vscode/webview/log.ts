// The conversation: a turn is what the user said, what came of it piece by piece, and how it ended.

import { t } from "../src/l10n";
import type { Patch } from "../src/session/patches";
import type { Item, PageState, Position, Turn, TurnHead } from "../src/session/state";
import { modeName } from "../src/words";
import { arrange, h, iconButton, setAttribute } from "./dom";
import { endingOf } from "./ending";
import { type ItemView, type LogActions, type TurnActions, viewOf } from "./items";
import { sentOf } from "./sent";

const ANNOUNCED = 1000;

export class LogView {
  #turns = new Map<string, TurnView>();
  /** It is called when sizes are known. jsdom knows none. */
  readonly #drawn =
    "ResizeObserver" in window
      ? new ResizeObserver((entries) => {
          for (const { target } of entries) target.classList.add("is-drawn");
        })
      : undefined;

  readonly #actions: TurnActions;
  #position: Position | undefined;

  constructor(
    private readonly element: HTMLElement,
    private readonly actions: LogActions,
  ) {
    const positionIn = (proposalId: string) =>
      this.#position?.proposalId === proposalId ? this.#position.words : undefined;
    this.#actions = { ...actions, positionIn };
  }

  /** Show what the patch has changed in `state`. */
  show(state: PageState, patch: Patch): void {
    switch (patch.kind) {
      case "window":
        this.#place(state, patch.window.position);
        break;
      case "all":
        this.#showAll(state.turns);
        break;
      case "turn":
      case "drop":
      case "item":
      case "grow": {
        const turnId = patch.kind === "turn" ? patch.head.id : patch.turnId;
        const turn = state.turns.find((it) => it.head.id === turnId);
        if (turn) this.#change(turn, patch);
      }
    }
    if (patch.kind === "turn" || patch.kind === "all") this.#markLast();
  }

  /** What is known already is only changed: whoever writes or reads there is not disturbed. */
  #showAll(turns: readonly Turn[]): void {
    const ids = new Set(turns.map((it) => it.head.id));
    for (const id of [...this.#turns.keys()]) if (!ids.has(id)) this.#turns.delete(id);
    for (const turn of turns) {
      const view = this.#viewOf(turn);
      view.update(turn.head);
      view.showAll(turn.items);
    }
    arrange(
      this.element,
      turns.map((it) => this.#viewOf(it).element),
    );
  }

  /** The user is at another change of a review. */
  #place(state: PageState, position: Position | undefined): void {
    const before = this.#position;
    this.#position = position;
    for (const turn of state.turns) {
      for (const item of turn.items) {
        if (item.kind === "review" && item.isOpen && [before, position].some((it) => it?.proposalId === item.id)) {
          this.#viewOf(turn).show(item);
        }
      }
    }
  }

  elementOf(turnId: string): HTMLElement | undefined {
    return this.#turns.get(turnId)?.element;
  }

  /** Names that are files are known now. */
  linkFiles(): void {
    for (const turn of this.#turns.values()) turn.linkFiles();
  }

  #change(turn: Turn, patch: Patch): void {
    const view = this.#viewOf(turn);
    if (patch.kind === "turn") view.update(turn.head);
    else if (patch.kind === "drop") view.drop(patch.itemIds);
    else if (patch.kind === "item") {
      view.show(patch.item);
      if (patch.item.kind === "text" && patch.item.isDone && !patch.item.agentId) {
        this.actions.announce(view.wordsOf(patch.item.id).slice(0, ANNOUNCED));
      } else if (patch.item.kind === "question" && patch.item.answer === null) {
        this.actions.announce(t("Odin asks: {0}", patch.item.question.title));
      }
    } else if (patch.kind === "grow") {
      const item = turn.items.find((it) => it.id === patch.itemId);
      if (item) view.show(item);
    }
  }

  #viewOf(turn: Turn): TurnView {
    const known = this.#turns.get(turn.head.id);
    if (known) return known;
    const view = new TurnView(this.#actions);
    view.update(turn.head);
    this.#turns.set(turn.head.id, view);
    this.element.append(view.element);
    this.#drawn?.observe(view.element);
    return view;
  }

  /** Only the last turn can be asked again. */
  #markLast(): void {
    const views = [...this.#turns.values()];
    const last = views.findLast((it) => it.isSaid);
    for (const view of views) view.element.classList.toggle("is-last", view === last);
  }
}

class TurnView {
  readonly element = h("article", { class: "turn" });
  #said = h("header", { class: "said" });
  #items = h("div", { class: "items" });
  #end = h("footer", { class: "end" });
  #views = new Map<string, ItemView>();
  #shownHead = "";
  isSaid = false;

  constructor(private readonly actions: TurnActions) {
    this.element.append(this.#said, this.#items, this.#end);
  }

  update(head: TurnHead): void {
    const shown = JSON.stringify(head);
    if (shown === this.#shownHead) return;
    this.#shownHead = shown;
    this.isSaid = head.said !== "";
    this.element.dataset.status = head.status;
    setAttribute(this.element, "aria-label", this.isSaid ? head.said.slice(0, 100) : t("Notes"));
    this.#said.hidden = !this.isSaid;
    const bubble = h("div", { class: "said-text", text: head.said });
    const title = h("h2", { class: "visually-hidden", text: t("You, in {0}", modeName(head.mode ?? "ask_mode")) });
    const pictures = h(
      "div",
      { class: "said-pictures" },
      ...(head.attached ?? []).map((it) => this.actions.picture(it)),
    );
    const sent = head.context?.length ? [sentOf(head.id, head.context, this.actions)] : [];
    this.#said.replaceChildren(title, pictures, bubble, ...sent, this.#saidActions(head));
    const hasEnded = head.status !== "running" && this.isSaid;
    this.#end.replaceChildren(...(hasEnded ? endingOf(head, this.actions) : []));
  }

  show(item: Item): void {
    const known = this.#views.get(item.id);
    if (known) {
      known.update(item);
      return;
    }
    const view = viewOf(item, this.actions);
    this.#views.set(item.id, view);
    view.update(item);
    const place = item.agentId ? this.#views.get(`helper/${item.agentId}`)?.inside : undefined;
    (place ?? this.#items).append(view.element);
  }

  /** These, in this order, and no others. */
  showAll(items: readonly Item[]): void {
    const ids = new Set(items.map((it) => it.id));
    this.drop([...this.#views.keys()].filter((it) => !ids.has(it)));
    for (const item of items) this.show(item);
    const places = new Map<Element, Element[]>([[this.#items, []]]);
    for (const { id } of items) {
      const { element } = this.#views.get(id) ?? {};
      const parent = element?.parentElement;
      if (element && parent) places.set(parent, [...(places.get(parent) ?? []), element]);
    }
    for (const [place, elements] of places) arrange(place, elements);
  }

  drop(itemIds: string[]): void {
    for (const id of itemIds) {
      this.#views.get(id)?.element.remove();
      this.#views.delete(id);
    }
  }

  /** As they are shown. */
  wordsOf(itemId: string): string {
    return this.#views.get(itemId)?.element.textContent?.trim() ?? "";
  }

  linkFiles(): void {
    for (const view of this.#views.values()) view.markdown?.linkFiles();
  }

  #saidActions(head: TurnHead): HTMLElement {
    const { post, copy } = this.actions;
    const actions = h("div", { class: "said-actions" });
    actions.append(iconButton("copy", t("Copy message"), () => copy(head.said)));
    if (head.number !== undefined && head.status !== "running") {
      const again = () => post({ type: "fork", turnId: head.id });
      actions.append(iconButton("edit", t("Edit and ask again from here"), again));
    }
    actions.append(h("span", { class: "mode", text: head.mode ? modeName(head.mode) : "" }));
    return actions;
  }
}
