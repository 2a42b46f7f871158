// A question as a notification. Who is to allow a command sees all of it, or goes to the chat to see it.

import type { Option, Question } from "../protocol";
import { exact, readable } from "./text";

const MAX_SHOWN = 160;
const MAX_BUTTONS = 3;

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
  return `Odin: ${readable(title).slice(0, 2 * MAX_SHOWN)}${shown}`;
}

function fits(text: string): boolean {
  return text.length <= MAX_SHOWN && !text.includes("\n") && !exact(text).some((it) => it.isMarked);
}
