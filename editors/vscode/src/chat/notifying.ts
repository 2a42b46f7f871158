// A question as a notification. Who is to allow a command sees all of it, or goes to the chat to see it.

import type { Question } from "../protocol";
import { exact, readable } from "./text";

const MAX_SHOWN = 160;

/** Whether it can be decided where there is room for one line only. */
export function canBeNotified(question: Question): boolean {
  const { options = [], multiple = false, command, detail = "", kind } = question;
  const subject = command ?? (kind === "question" ? "" : detail);
  return options.length > 0 && !multiple && fits(subject);
}

export function notificationText(question: Question): string {
  const { title, command, detail = "" } = question;
  const subject = command ?? detail;
  const shown = subject && canBeNotified(question) && fits(subject) ? `: ${subject}` : "";
  return `Odin: ${readable(title).slice(0, 2 * MAX_SHOWN)}${shown}`;
}

function fits(text: string): boolean {
  return text.length <= MAX_SHOWN && !text.includes("\n") && !exact(text).some((it) => it.isMarked);
}
