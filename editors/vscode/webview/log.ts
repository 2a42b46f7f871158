// The conversation: a turn is what the user said, what came of it piece by piece, and how it ended.

import type { FromPage } from "../src/chat/messages";
import type { Patch } from "../src/chat/patches";
import type {
  ChatState,
  DraftItem,
  HelperItem,
  Item,
  ReviewItem,
  TextItem,
  TodoItem,
  Turn,
  TurnHead,
} from "../src/chat/state";
import { readable } from "../src/chat/text";
import { button, fileName, h, icon, iconButton, plural } from "./dom";
import { endingOf } from "./ending";
import { type MarkdownActions, MarkdownView } from "./markdown";
import { problemsOf } from "./problems";
import { questionOf } from "./question";
import { ToolView } from "./tools";

export const MODES = { ask_mode: "Ask", plan_mode: "Plan", edit_mode: "Edit" } as const;
const ANNOUNCED = 1000;

export interface LogActions extends MarkdownActions {
  post(message: FromPage): void;
  announce(text: string): void;
  isOpen(fold: string): boolean;
  setOpen(fold: string, isOpen: boolean): void;
}

interface ItemView {
  element: HTMLElement;
  update(item: Item): void;
  /** Where the pieces of a helper go. */
  inside?: HTMLElement;
  markdown?: MarkdownView;
}

export class LogView {
  #turns = new Map<string, TurnView>();

  constructor(
    private readonly element: HTMLElement,
    private readonly actions: LogActions,
  ) {}

  /** Show what the patch has changed in `state`. */
  show(state: ChatState, patch: Patch): void {
    switch (patch.kind) {
      case "all":
        this.#turns.clear();
        this.element.replaceChildren();
        for (const turn of state.turns) {
          const view = this.#viewOf(turn);
          for (const item of turn.items) view.show(item);
        }
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
        this.actions.announce(`Odin asks: ${patch.item.question.title}`);
      }
    } else if (patch.kind === "grow") {
      const item = turn.items.find((it) => it.id === patch.itemId);
      if (item) view.show(item);
    }
  }

  #viewOf(turn: Turn): TurnView {
    const known = this.#turns.get(turn.head.id);
    if (known) return known;
    const view = new TurnView(this.actions);
    view.update(turn.head);
    this.#turns.set(turn.head.id, view);
    this.element.append(view.element);
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
  isSaid = false;

  constructor(private readonly actions: LogActions) {
    this.element.append(this.#said, this.#items, this.#end);
  }

  update(head: TurnHead): void {
    this.isSaid = head.said !== "";
    this.element.dataset.status = head.status;
    this.element.setAttribute("aria-label", this.isSaid ? readable(head.said).slice(0, 100) : "Notes");
    this.#said.hidden = !this.isSaid;
    const bubble = h("div", { class: "said-text", text: readable(head.said) });
    const title = h("h2", { class: "visually-hidden", text: `You, in ${MODES[head.mode ?? "ask_mode"]} mode` });
    this.#said.replaceChildren(title, bubble, this.#saidActions(head));
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
    actions.append(iconButton("copy", "Copy message", () => copy(head.said)));
    if (head.number !== undefined && head.status !== "running") {
      const again = () => post({ type: "fork", turnId: head.id });
      actions.append(iconButton("edit", "Edit and ask again from here", again));
    }
    actions.append(h("span", { class: "mode", text: head.mode ? MODES[head.mode] : "" }));
    return actions;
  }
}

function viewOf(item: Item, actions: LogActions): ItemView {
  switch (item.kind) {
    case "text": {
      const markdown = new MarkdownView(actions);
      return { element: markdown.element, markdown, update: (it) => markdown.update((it as TextItem).text) };
    }
    case "thinking":
      return thinking(item, actions);
    case "tool": {
      const tool = new ToolView(actions.openFile);
      keepFold(tool.element, item.id, actions);
      if (item.isOwn) tool.element.open = true;
      return { element: tool.element, update: (it) => it.kind === "tool" && tool.update(it) };
    }
    case "helper":
      return helper(item, actions);
    default:
      return redrawn((it) => drawn(it, actions));
  }
}

/** A piece that is small enough to be made anew. */
function redrawn(draw: (item: Item) => HTMLElement): ItemView {
  const element = h("div", { class: "piece" });
  return { element, update: (item) => element.replaceChildren(draw(item)) };
}

function drawn(item: Item, actions: LogActions): HTMLElement {
  switch (item.kind) {
    case "draft":
      return draftOf(item);
    case "todos":
      return todosOf(item);
    case "question":
      return questionOf(item, (questionId, { optionIds = [], ...more }) =>
        actions.post({ type: "answer", questionId, optionIds, ...more }),
      );
    case "review":
      return reviewOf(item, actions);
    case "problems":
      return problemsOf(item, actions.openFile);
    case "spoken":
      return h("p", { class: "said-text spoken", text: readable(item.text) });
    case "notice": {
      const sign = icon(item.level === "info" ? "info" : item.level);
      return h("p", { class: `notice ${item.level}` }, sign, h("span", { text: readable(item.message) }));
    }
    default:
      return h("div");
  }
}

function thinking(item: TextItem, actions: LogActions): ItemView {
  const label = h("span");
  const markdown = new MarkdownView(actions);
  const summary = h("summary", {}, icon("lightbulb"), label, icon("chevron-right", "fold-sign"));
  const element = h("details", { class: "thinking fold has-more" }, summary);
  keepFold(element, item.id, actions);
  let text = "";
  const draw = () => {
    if (!element.open) return;
    element.append(markdown.element);
    markdown.update(text);
  };
  element.addEventListener("toggle", draw);
  const update = (it: Item) => {
    if (it.kind !== "thinking") return;
    label.textContent = it.isDone ? "Thought about it" : "Thinking…";
    text = it.text;
    draw();
  };
  return { element, markdown, update };
}

function helper(item: HelperItem, actions: LogActions): ItemView {
  const inside = h("div", { class: "items" });
  const summary = h("summary");
  const fold = h("details", { class: "fold has-more" }, summary, inside);
  keepFold(fold, item.id, actions);
  const agentId = item.id.slice("helper/".length);
  const stop = iconButton("debug-stop", "Stop this helper", () => actions.post({ type: "stopHelper", agentId }));
  const element = h("div", { class: "helper" }, fold, stop);
  const update = (it: Item) => {
    if (it.kind !== "helper") return;
    const isRunning = it.status === "running";
    const sign = { running: "loading", failed: "error" }[it.status as string] ?? "hubot";
    summary.replaceChildren(
      icon(sign, isRunning ? "codicon-modifier-spin" : ""),
      h("span", { class: "tool-title", text: readable(it.description) }),
      h("span", { class: "tool-detail", text: isRunning ? "" : readable(it.summary || it.status) }),
      icon("chevron-right", "fold-sign"),
    );
    stop.hidden = !isRunning;
  };
  return { element, update, inside };
}

function draftOf({ name, subject, text }: DraftItem): HTMLElement {
  const sign = icon("loading", "codicon-modifier-spin");
  const title = h("span", { class: "tool-title", text: readable(`${name}: ${subject || "…"}`) });
  const line = h("p", { class: "notice" }, sign, title, h("span", { class: "tool-detail", text: "being written" }));
  const region = {
    class: "output",
    tabindex: "0",
    role: "region",
    "aria-label": "Being written",
    text: readable(text),
  };
  return h("div", { class: "draft" }, line, text !== "" && h("pre", region));
}

function todosOf(item: TodoItem): HTMLElement {
  const done = item.todos.filter((it) => it.status === "completed").length;
  const signs = { pending: "circle-large", in_progress: "circle-large-filled", completed: "pass-filled" } as const;
  const words = { pending: "to do", in_progress: "in progress", completed: "done" } as const;
  const list = item.todos.map((it) =>
    h(
      "li",
      { class: it.status },
      icon(signs[it.status]),
      h("span", { text: readable(it.content) }),
      h("span", { class: "visually-hidden", text: ` (${words[it.status]})` }),
    ),
  );
  const title = h("h3", { text: `Todos (${done}/${item.todos.length})` });
  return h("section", { class: "todos", "aria-label": "Todos" }, title, h("ul", {}, ...list));
}

function reviewOf(item: ReviewItem, { post }: LogActions): HTMLElement {
  const sum = (key: "pending" | "accepted" | "rejected") => item.files.reduce((total, it) => total + it[key], 0);
  const names = item.files.map((it) => readable(fileName(it.uri)));
  if (!item.isOpen) {
    const told = [
      [sum("accepted"), "accepted"],
      [sum("rejected"), "rejected"],
    ].flatMap(([count, word]) => (count ? [`${count} ${word}`] : []));
    const words = `${told.join(", ") || "Nothing decided"} in ${names.join(", ")}`;
    return h("p", { class: "notice" }, icon("diff-multiple"), h("span", { text: words }));
  }
  const decide = (decision: "open" | "accept" | "reject" | "drop") => () =>
    post({ type: "review", proposalId: item.id, decision });
  const list = item.files.map((file, index) => {
    const what = file.operation === "edit" ? "" : ` (${file.operation})`;
    return h("li", { title: readable(file.uri) }, names[index] ?? "", h("span", { class: "muted", text: what }));
  });
  const pending = plural(sum("pending"), "change");
  const title = item.waits
    ? `${pending} ${sum("pending") === 1 ? "waits" : "wait"} for you`
    : `${pending} in ${plural(item.files.length, "file")} to review`;
  const reject = item.waits ? button("Drop", decide("drop")) : button("Reject all", decide("reject"));
  const buttons = [button("Review", decide("open"), "primary"), button("Accept all", decide("accept")), reject];
  return h(
    "section",
    { class: "review is-open", "aria-label": "Review" },
    h("h3", {}, icon("diff-multiple"), title),
    ...(item.position ? [h("p", { class: "muted", text: item.position })] : []),
    h("ul", { class: "files" }, ...list),
    h("div", { class: "actions" }, ...buttons),
  );
}

function keepFold(element: HTMLDetailsElement, id: string, actions: LogActions): void {
  element.open = actions.isOpen(id);
  element.addEventListener("toggle", () => actions.setOpen(id, element.open));
}
