// The pieces of a turn: what was said and thought, tools, helpers, questions, reviews and notes.

import type { FromPage } from "../src/chat/messages";
import { t, tn } from "../src/l10n";
import type { Attached } from "../src/protocol";
import { changesOf, filesOf, operationName } from "../src/session/reviews";
import type { DraftItem, HelperItem, Item, ReviewItem, TextItem, TodoItem } from "../src/session/state";
import { secondsOf } from "../src/words";
import { button, Drawn, fileName, h, icon, iconButton, setText } from "./dom";
import { type MarkdownActions, MarkdownView } from "./markdown";
import { problemsOf } from "./problems";
import { questionOf } from "./question";
import { ToolView, withoutFolders } from "./tools";

export interface LogActions extends MarkdownActions {
  post(message: FromPage): void;
  announce(text: string): void;
  picture(attached: Attached): HTMLElement;
  isOpen(fold: string): boolean;
  setOpen(fold: string, isOpen: boolean): void;
}

export interface TurnActions extends LogActions {
  /** Where the user is in a review, in words. */
  positionIn(proposalId: string): string | undefined;
}

export interface ItemView {
  element: HTMLElement;
  update(item: Item): void;
  /** Where the pieces of a helper go. */
  inside?: HTMLElement;
  markdown?: MarkdownView;
}

export function viewOf(item: Item, actions: TurnActions): ItemView {
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
      return redrawn(actions);
  }
}

/** A piece that is small enough to be made anew when something in it has changed. */
function redrawn(actions: TurnActions): ItemView {
  const piece = new Drawn(h("div", { class: "piece" }));
  const update = (item: Item) => piece.show([item, actions.positionIn(item.id)], () => [drawn(item, actions)]);
  return { element: piece.element, update };
}

function drawn(item: Item, actions: TurnActions): HTMLElement {
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
      return h("p", { class: "said-text spoken", text: item.text });
    case "notice": {
      const sign = icon(item.level === "info" ? "info" : item.level);
      return h("p", { class: `notice ${item.level}` }, sign, h("span", { text: item.message }));
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
    setText(label, it.isDone ? thoughtFor(it) : t("Thinking…"));
    text = it.text;
    draw();
  };
  return { element, markdown, update };
}

function thoughtFor({ durationMs }: TextItem): string {
  return durationMs === undefined ? t("Thought about it") : t("Thought for {0}", secondsOf(durationMs));
}

function helper(item: HelperItem, actions: LogActions): ItemView {
  const inside = h("div", { class: "items" });
  const summary = h("summary");
  const fold = h("details", { class: "fold has-more" }, summary, inside);
  keepFold(fold, item.id, actions);
  const agentId = item.id.slice("helper/".length);
  const stop = iconButton("debug-stop", t("Cancel this subagent"), () => actions.post({ type: "stopHelper", agentId }));
  const element = h("div", { class: "helper" }, fold, stop);
  const update = (it: Item) => {
    if (it.kind !== "helper") return;
    const isRunning = it.status === "running";
    const sign = { running: "loading", failed: "error" }[it.status as string] ?? "hubot";
    summary.replaceChildren(
      icon(sign, isRunning ? "codicon-modifier-spin" : ""),
      h("span", { class: "tool-title", text: it.description }),
      h("span", { class: "tool-detail", text: isRunning ? "" : it.summary || statusName(it.status) }),
      icon("chevron-right", "fold-sign"),
    );
    stop.hidden = !isRunning;
  };
  return { element, update, inside };
}

function statusName(status: HelperItem["status"]): string {
  return {
    running: t("running"),
    completed: t("done"),
    stopped: t("stopped"),
    failed: t("failed"),
    cancelled: t("canceled"),
  }[status];
}

function draftOf({ name, subject, text }: DraftItem): HTMLElement {
  const sign = icon("loading", "codicon-modifier-spin");
  const words = withoutFolders(`${name}: ${subject || "…"}`);
  const title = h("span", { class: "tool-title", text: words, title: subject });
  const line = h("p", { class: "notice" }, sign, title, h("span", { class: "tool-detail", text: t("being written") }));
  const region = {
    class: "output",
    tabindex: "0",
    role: "region",
    "aria-label": t("Being written"),
    text,
  };
  return h("div", { class: "draft" }, line, text !== "" && h("pre", region));
}

function todosOf(item: TodoItem): HTMLElement {
  const done = item.todos.filter((it) => it.status === "completed").length;
  const signs = { pending: "circle-large", in_progress: "circle-large-filled", completed: "pass-filled" } as const;
  const words = { pending: t("to do"), in_progress: t("in progress"), completed: t("done") };
  const list = item.todos.map((it) =>
    h(
      "li",
      { class: it.status },
      icon(signs[it.status]),
      h("span", { text: it.content }),
      h("span", { class: "visually-hidden", text: ` (${words[it.status]})` }),
    ),
  );
  const title = h("h3", { text: t("Todos ({0}/{1})", done, item.todos.length) });
  return h("section", { class: "todos", "aria-label": t("Todos") }, title, h("ul", {}, ...list));
}

function reviewOf(item: ReviewItem, { post, positionIn }: TurnActions): HTMLElement {
  const sum = (key: "pending" | "accepted" | "rejected") => item.files.reduce((total, it) => total + it[key], 0);
  const names = item.files.map((it) => fileName(it.uri));
  if (!item.isOpen) {
    const [accepted, rejected] = [sum("accepted"), sum("rejected")];
    const told = [accepted > 0 && t("{0} accepted", accepted), rejected > 0 && t("{0} rejected", rejected)];
    const words = t("{0} in {1}", told.filter(Boolean).join(", ") || t("Nothing decided"), names.join(", "));
    return h("p", { class: "notice" }, icon("diff-multiple"), h("span", { text: words }));
  }
  const decide = (decision: "open" | "accept" | "reject" | "drop") => () =>
    post({ type: "review", proposalId: item.id, decision });
  const list = item.files.map((file, index) => {
    const what = file.operation === "edit" ? "" : ` (${operationName(file.operation)})`;
    return h("li", { title: file.uri }, names[index] ?? "", h("span", { class: "muted", text: what }));
  });
  const position = positionIn(item.id);
  const pending = sum("pending");
  const title = item.waits
    ? tn(pending, "{0} change waits for you", "{0} changes wait for you")
    : t("{0} in {1} to review", changesOf(pending), filesOf(item.files.length));
  const reject = item.waits ? button(t("Drop"), decide("drop")) : button(t("Reject All"), decide("reject"));
  const buttons = [button(t("Review"), decide("open"), "primary"), button(t("Accept All"), decide("accept")), reject];
  return h(
    "section",
    { class: "review is-open", "aria-label": t("Review") },
    h("h3", {}, icon("diff-multiple"), title),
    position !== undefined && h("p", { class: "muted", text: position }),
    h("ul", { class: "files" }, ...list),
    h("div", { class: "actions" }, ...buttons),
  );
}

export function keepFold(element: HTMLDetailsElement, id: string, actions: LogActions): void {
  element.open = actions.isOpen(id);
  element.addEventListener("toggle", () => actions.setOpen(id, element.open));
}
