// Questions to the user, and what was answered.

import type { Answer, Question } from "../protocol";
import type { Ledger } from "./ledger";
import type { QuestionItem, Turn } from "./state";

/** One that is shown already stays as it is. `at`: when it was asked, in seconds since 1970. */
export function ask(ledger: Ledger, turn: Turn, question: Question, at = Date.now() / 1000): void {
  if (find(ledger, question.questionId)) return;
  const { questionId, timeoutMs } = question;
  const until = timeoutMs === undefined ? {} : { until: at + timeoutMs / 1000 };
  ledger.put(turn, { kind: "question", id: idOf(questionId), question, ...until, answer: null });
}

/** Without an answer nobody has given one, and nobody can any more. */
export function settle(ledger: Ledger, questionId: string, answer: Answer | null): void {
  const { turn, item } = find(ledger, questionId) ?? {};
  if (turn && item) ledger.put(turn, { ...item, answer: answer ? inWords(item.question, answer) : "gone" });
}

export function isOpen(ledger: Ledger, questionId: string): boolean {
  return find(ledger, questionId)?.item.answer === null;
}

function find(ledger: Ledger, questionId: string): { turn: Turn; item: QuestionItem } | undefined {
  for (const turn of ledger.state.turns) {
    const item = ledger.item(turn, "question", idOf(questionId));
    if (item) return { turn, item };
  }
  return undefined;
}

function inWords(question: Question, { optionIds = [], text, command }: Answer): QuestionItem["answer"] {
  const labels = optionIds.map((id) => question.options?.find((it) => it.id === id)?.label ?? id);
  return { labels, ...(text ? { text } : {}), ...(command ? { command } : {}) };
}

function idOf(questionId: string): string {
  return `question/${questionId}`;
}
