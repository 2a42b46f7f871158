// A question to the user, with the exact command if it is about one. No key that was meant for something else answers it.

import type { QuestionItem } from "../src/chat/state";
import { exact, readable } from "../src/chat/text";
import type { Question } from "../src/protocol";
import { button, h, icon } from "./dom";
import { withInlineCode } from "./markdown";

export type GiveAnswer = (questionId: string, optionIds: string[], text?: string) => void;

const DENY = "deny";

export function questionOf(item: QuestionItem, answer: GiveAnswer): HTMLElement {
  const { question } = item;
  const titleId = `title-${question.questionId}`;
  const section = h("section", { class: `question ${question.kind}`, "aria-labelledby": titleId });
  const sign = icon(question.kind === "question" ? "question" : "shield");
  section.append(h("h3", { id: titleId }, sign, h("span", {}, ...said(question, question.title))));
  if (question.command !== undefined) section.append(commandOf(question.command));
  section.classList.toggle("is-open", item.answer === null);
  if (item.answer !== null) {
    section.append(outcome(item.answer));
    return section;
  }
  if (question.cwd !== undefined) {
    section.append(h("p", { class: "place" }, "in ", h("code", {}, ...marked(question.cwd))));
  }
  const detail = detailOf(question);
  if (detail.length > 0)
    section.append(h("div", { class: "question-detail", ...SCROLLS, "aria-label": "Details" }, ...detail));
  section.append(form(question, answer));
  return section;
}

const SCROLLS = { tabindex: "0", role: "region" };

/** Its lines break between words, not after a `-`, which would look like a word of its own. */
function commandOf(command: string): HTMLElement {
  const pieces = command.split(/(\s+)/).flatMap((it) => (it.trim() ? [h("span", {}, ...marked(it))] : marked(it)));
  return h("pre", { class: "exact-command", ...SCROLLS, "aria-label": "Command" }, ...pieces);
}

/** What the detail says besides the command and its folder, which have their own places. Without these it may be a list
 * of commands: then all of it is shown as it is, for a backtick in a command is not a matter of style. */
function detailOf({ detail = "", command, cwd }: Question): Node[] {
  if (command === undefined || !detail.startsWith(command)) return marked(detail.trim());
  const place = `in ${cwd}`;
  const rest = detail.slice(command.length).trimStart();
  return marked((rest.startsWith(place) ? rest.slice(place.length) : rest).trim(), withInlineCode);
}

/** What a model asks is prose; what is asked for the user's safety is shown as it is. */
function said({ kind }: Question, text: string): Node[] {
  return kind === "question" ? withInlineCode(readable(text)) : plain(readable(text));
}

function marked(text: string, shown: (text: string) => Node[] = plain): Node[] {
  return exact(text).flatMap((part) =>
    part.isMarked
      ? [h("mark", { class: "hidden-character", text: part.text, title: "cannot be seen" })]
      : shown(part.text),
  );
}

function plain(text: string): Node[] {
  return [document.createTextNode(text)];
}

function form(question: Question, answer: GiveAnswer): HTMLElement {
  const { questionId, options = [], allowText = false } = question;
  if (question.multiple) return severalOf(question, answer);
  const actions = h("div", { class: "actions" });
  const denies = question.kind === "permission" && options.some((it) => it.id === DENY);
  for (const [index, option] of options.entries()) {
    const isFirst = index === 0 && option.id !== DENY;
    const choose = button(
      readable(option.label),
      () => answer(questionId, [option.id]),
      isFirst ? "primary" : "secondary",
    );
    choose.dataset.option = option.id;
    if (option.description) choose.title = readable(option.description);
    actions.append(choose);
  }
  const described = options.filter((it) => it.description);
  const explained = h("dl", { class: "explained" });
  for (const it of described) {
    explained.append(h("dt", { text: readable(it.label) }), h("dd", {}, ...said(question, it.description ?? "")));
  }
  const whole = h("div", {}, described.length > 0 && explained, actions);
  if (!allowText) return whole;
  const label = denies ? "Deny with a reason…" : "Something else…";
  const writing = words(denies ? "Why not? Odin is told." : "Your answer", (text) =>
    answer(questionId, denies ? [DENY] : [], text),
  );
  if (options.length === 0) {
    whole.append(writing);
    return whole;
  }
  const open = button(label, () => {
    writing.hidden = false;
    open.hidden = true;
    writing.querySelector("textarea")?.focus();
    writing.scrollIntoView?.({ block: "nearest" });
  });
  writing.hidden = true;
  actions.append(open);
  whole.append(writing);
  return whole;
}

function severalOf(question: Question, answer: GiveAnswer): HTMLElement {
  const { questionId, options = [], allowText = false } = question;
  const boxes = options.map((option) => {
    const box = h("input", { type: "checkbox", value: option.id });
    const detail = option.description && h("span", { class: "muted" }, " ", ...said(question, option.description));
    return h("label", { class: "choice" }, box, h("span", {}, readable(option.label), detail || undefined));
  });
  const text = h("textarea", { rows: "1", "aria-label": "Something else", placeholder: "Something else…" });
  const send = () => {
    const chosen = boxes.map((it) => it.querySelector("input")).filter((it) => it?.checked);
    const ids = chosen.map((it) => it?.value ?? "");
    const written = text.value.trim();
    if (ids.length > 0 || written) answer(questionId, ids, written || undefined);
  };
  const group = h("fieldset", {}, h("legend", { class: "visually-hidden", text: readable(question.title) }), ...boxes);
  return h("div", {}, group, allowText && text, h("div", { class: "actions" }, button("Answer", send, "primary")));
}

/** A place to write; Enter sends. */
function words(label: string, send: (text: string) => void): HTMLElement {
  const text = h("textarea", { rows: "2", "aria-label": label, placeholder: label });
  const run = () => text.value.trim() && send(text.value.trim());
  text.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    run();
  });
  return h("div", { class: "words" }, text, h("div", { class: "actions" }, button("Send", run, "primary")));
}

function outcome(answer: NonNullable<QuestionItem["answer"]>): HTMLElement {
  if (answer === "gone") return h("p", { class: "outcome muted" }, icon("circle-slash"), "Not asked any more");
  const said = [answer.labels.join(", "), answer.text].filter(Boolean).join(": ");
  return h("p", { class: "outcome" }, icon("check"), readable(said));
}
