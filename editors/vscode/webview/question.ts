// A question to the user, with the exact command if it is about one, which may be changed before it is allowed. No key
// that was meant for something else answers it.

import { exact, readableLine } from "../src/chat/text";
import { t } from "../src/l10n";
import type { Answer, Option, Question } from "../src/protocol";
import type { QuestionItem } from "../src/session/state";
import { button, h, icon, iconButton, setAttribute, setText, textNode } from "./dom";
import { withInlineCode } from "./markdown";

type GiveAnswer = (answer: Answer) => void;

const DENY = "deny";
/** What the other options would allow is the command as it was. */
const FOR_EDITED = new Set(["allow_once", DENY]);
/** What these allow is stored, as a rule that outlives the session. */
const STORED = new Set(["allow_workspace", "allow_always"]);

export function questionOf(item: QuestionItem, give: (questionId: string, answer: Answer) => void): HTMLElement {
  const { question } = item;
  const titleId = `title-${question.questionId}`;
  const section = h("section", { class: `question ${question.kind}`, "aria-labelledby": titleId });
  const sign = icon(question.kind === "question" ? "question" : "shield");
  const header = question.header && h("span", { class: "question-header" }, ...said(question, question.header));
  section.append(h("h3", { id: titleId }, sign, header, h("span", {}, ...said(question, question.title))));
  section.classList.toggle("is-open", item.answer === null);
  if (item.answer !== null) {
    if (question.command !== undefined) section.append(commandOf(question.command));
    section.append(...outcome(item.answer));
    return section;
  }
  const { command, editable = false } = question;
  const answer: GiveAnswer = (it) => give(question.questionId, it);
  const edited = command !== undefined && editable ? new EditableCommand(command, section) : undefined;
  if (command !== undefined) section.append(edited?.element ?? commandOf(command));
  if (question.cwd !== undefined) {
    section.append(h("p", { class: "place" }, t("in"), " ", h("code", {}, ...marked(question.cwd))));
  }
  const detail = detailOf(question);
  if (detail.length > 0)
    section.append(h("div", { class: "question-detail", ...SCROLLS, "aria-label": t("Details") }, ...detail));
  section.append(form(question, edited ? (it) => edited.answer(it, answer) : answer));
  if (item.until !== undefined) section.append(timeLeft(question, item.until));
  return section;
}

const SCROLLS = { tabindex: "0", role: "region" };

/** Its lines break between words, not after a `-`, which would look like a word of its own. */
function commandOf(command: string): HTMLElement {
  const pieces = command.split(/(\s+)/).flatMap((it) => (it.trim() ? [h("span", {}, ...marked(it))] : marked(it)));
  return h("pre", { class: "exact-command", ...SCROLLS, "aria-label": t("Command") }, ...pieces);
}

/** The command as it would run, and a place to change it. */
class EditableCommand {
  readonly element = h("div", { class: "editable-command" });
  #field: HTMLTextAreaElement | undefined;

  constructor(
    private readonly command: string,
    private readonly question: HTMLElement,
  ) {
    const edit = iconButton("edit", t("Edit command"), () => this.#edit());
    this.element.append(commandOf(command), edit);
  }

  /** With the command, if it is another one; one that is empty allows nothing. */
  answer(answer: Answer, give: GiveAnswer): void {
    const command = this.#field?.value.trim() ?? this.command;
    if (answer.optionIds?.includes(DENY) || command === this.command) give(answer);
    else if (command) give({ ...answer, command });
  }

  #edit(): void {
    const rows = String(Math.min(8, this.command.split("\n").length + 1));
    const field = h("textarea", { rows, class: "exact-command", "aria-label": t("Command"), spellcheck: "false" });
    field.value = this.command;
    field.addEventListener("input", () => this.#offer(field.value.trim() !== this.command));
    this.#field = field;
    this.element.replaceChildren(field);
    field.focus();
  }

  #offer(isEdited: boolean): void {
    for (const it of this.question.querySelectorAll<HTMLElement>("[data-option]")) {
      it.hidden = isEdited && !FOR_EDITED.has(it.dataset.option ?? "");
    }
  }
}

/** What happens without an answer, and when. */
function timeLeft({ options = [], default: defaultId }: Question, until: number): HTMLElement {
  const label = options.find((it) => it.id === defaultId)?.label;
  const element = h("p", { class: "muted time-left" });
  const count = () => {
    const left = Math.max(0, Math.ceil(until - Date.now() / 1000));
    const words = label
      ? t("“{0}” applies in {1} s.", readableLine(label), left)
      : t("Odin continues without an answer in {0} s.", left);
    setText(element, words);
    if (left > 0) setTimeout(() => element.isConnected && count(), 1000);
  };
  count();
  return element;
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
  return kind === "question" ? withInlineCode(text) : plain(text);
}

function marked(text: string, shown: (text: string) => Node[] = plain): Node[] {
  return exact(text).flatMap((part) =>
    part.isMarked
      ? [h("mark", { class: "hidden-character", text: part.text, title: t("invisible character") })]
      : shown(part.text),
  );
}

function plain(text: string): Node[] {
  return [textNode(text)];
}

function form(question: Question, answer: GiveAnswer): HTMLElement {
  const { options = [], allowText = false, default: defaultId } = question;
  if (question.multiple && options.length > 0) return severalOf(question, answer);
  const actions = h("div", { class: "actions" });
  const denies = question.kind === "permission" && options.some((it) => it.id === DENY);
  const first = options.find((it) => it.id === defaultId) ?? options[0];
  for (const option of options) {
    const isFirst = option === first && option.id !== DENY;
    const isStored = question.kind === "permission" && STORED.has(option.id);
    const give = () => answer({ optionIds: [option.id] });
    const choose = button(
      option.label,
      () => (isStored ? actions.replaceWith(confirmed(option, give, actions)) : give()),
      isFirst ? "primary" : "secondary",
    );
    choose.dataset.option = option.id;
    if (option.description) setAttribute(choose, "title", option.description);
    actions.append(choose);
  }
  const described = options.filter((it) => it.description);
  const explained = h("dl", { class: "explained" });
  for (const it of described) {
    explained.append(h("dt", { text: it.label }), h("dd", {}, ...said(question, it.description ?? "")));
  }
  const whole = h("div", {}, described.length > 0 && explained, actions);
  if (!allowText) return whole;
  const label = denies ? t("Deny with Reason…") : t("Something Else…");
  const writing = words(denies ? t("Reason. Odin passes it to the model.") : t("Your answer"), (text) =>
    answer({ optionIds: denies ? [DENY] : [], text }),
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

/** A rule is shown before it is stored. */
function confirmed(option: Option, give: () => void, before: HTMLElement): HTMLElement {
  const store = button(t("Save Rule and Allow"), give, "primary");
  const back = button(t("Back"), () => {
    element.replaceWith(before);
    before.querySelector<HTMLElement>(`[data-option="${option.id}"]`)?.focus();
  });
  const rule = h("p", { class: "stored-rule", text: `${option.label}?` });
  const note = t("Odin saves this rule and does not ask again. To remove it, use Manage Approvals….");
  const element = h(
    "div",
    {},
    rule,
    h("p", { class: "muted", text: note }),
    h("div", { class: "actions" }, store, back),
  );
  queueMicrotask(() => store.focus());
  return element;
}

function severalOf(question: Question, answer: GiveAnswer): HTMLElement {
  const { options = [], allowText = false } = question;
  const boxes = options.map((option) => {
    const box = h("input", { type: "checkbox", value: option.id });
    const detail = option.description && h("span", { class: "muted" }, " ", ...said(question, option.description));
    return h("label", { class: "choice" }, box, h("span", {}, option.label, detail || undefined));
  });
  const text = h("textarea", { rows: "1", "aria-label": t("Something else"), placeholder: t("Something else…") });
  const send = () => {
    const chosen = boxes.map((it) => it.querySelector("input")).filter((it) => it?.checked);
    const optionIds = chosen.map((it) => it?.value ?? "");
    const written = text.value.trim();
    if (optionIds.length > 0 || written) answer({ optionIds, ...(written ? { text: written } : {}) });
  };
  const group = h("fieldset", {}, h("legend", { class: "visually-hidden", text: question.title }), ...boxes);
  return h("div", {}, group, allowText && text, h("div", { class: "actions" }, button(t("Answer"), send, "primary")));
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
  return h("div", { class: "words" }, text, h("div", { class: "actions" }, button(t("Send"), run, "primary")));
}

function outcome(answer: NonNullable<QuestionItem["answer"]>): HTMLElement[] {
  if (answer === "gone") return [h("p", { class: "outcome muted" }, icon("circle-slash"), t("No longer asked"))];
  const { labels, text, command } = answer;
  const said = [labels.join(", "), text].filter(Boolean).join(": ");
  const line = h("p", { class: "outcome" }, icon("check"), command ? t("{0}, changed to", said) : said);
  return command ? [line, commandOf(command)] : [line];
}
