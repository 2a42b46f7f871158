// A question as a notification. Who is to allow a command sees all of it, or goes to the chat to see it.

import { t } from "../l10n";
import type { Option, Question } from "../protocol";
import { exact, readableLine, withoutLinks } from "./text";

const MAX_SHOWN = 160;
const MAX_BUTTONS = 3;
/** The command that answers a question, with its id and that of the option. */
export const ANSWER = "odin.chat.answer";
const SHOW = "odin.chat.focus";

/** Buttons of a notification are short of room: of many choices there are the plain yes and no. */
export function notifiedOptions(question: Question): Option[] {
  const { options = [] } = question;
  if (!canBeNotified(question)) return [];
  return options.length <= MAX_BUTTONS ? options : options.filter((it) => it.id === "allow_once" || it.id === "deny");
}

/** Whether it can be decided where there is room for one line only. */
function canBeNotified(question: Question): boolean {
  const { options = [], multiple = false, command, detail = "", kind } = question;
  const subject = command ?? (kind === "question" ? "" : detail);
  return options.length > 0 && !multiple && fits(subject);
}

export function notificationText(question: Question): string {
  const { title, command, detail = "" } = question;
  const subject = command ?? detail;
  const shown = subject && canBeNotified(question) && fits(subject) ? ` ${subject}` : "";
  return t("Odin: {0}", `${withoutLinks(readableLine(title, 2 * MAX_SHOWN))}${shown}`);
}

/** Buttons would stay when the question is over: a notification that goes then has links only. */
export function notificationLinks(question: Question): string {
  const answers = notifiedOptions(question).map(({ id, label }) => {
    const given = encodeURIComponent(JSON.stringify([question.questionId, id]));
    return `[${readableLine(label).replace(/[[\]]/g, "")}](command:${ANSWER}?${given})`;
  });
  return [...answers, `[${t("Show in Chat")}](command:${SHOW})`].join(" · ");
}

function fits(text: string): boolean {
  const isPlain = !text.includes("\n") && !text.includes("](") && !exact(text).some((it) => it.isMarked);
  return text.length <= MAX_SHOWN && isPlain;
}
