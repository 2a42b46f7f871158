// Questions of the server that wait for the user's answer.

import type { CancellationToken } from "vscode";
import type { Answer, Question } from "../protocol";
import type { Transcript } from "./transcript";

interface Asked {
  question: Question;
  chat: Transcript;
  resolve: (answer: Answer | null) => void;
}

export class Asking {
  readonly #asked = new Map<string, Asked>();

  constructor(private readonly changed: (chat: Transcript) => void) {}

  ask(chat: Transcript, question: Question, token: CancellationToken): Promise<Answer | null> {
    const { questionId } = question;
    chat.ask(question);
    this.changed(chat);
    return new Promise((resolve) => {
      this.#asked.set(questionId, { question, chat, resolve });
      token.onCancellationRequested(() => this.#settle(questionId, null));
      if (token.isCancellationRequested) this.#settle(questionId, null);
    });
  }

  answer(questionId: string, answer: Answer): void {
    this.#settle(questionId, answer);
  }

  /** Its events may not tell of what is asked in it. */
  askAgain(chat: Transcript): void {
    for (const asked of this.#asked.values()) if (asked.chat === chat) chat.ask(asked.question);
  }

  /** Some are not shown as open any more. */
  giveUpUnasked(): void {
    for (const [questionId, { chat }] of [...this.#asked]) {
      if (!chat.isAsking(questionId)) this.#settle(questionId, null);
    }
  }

  giveUpAll(): void {
    for (const questionId of [...this.#asked.keys()]) this.#settle(questionId, null);
  }

  #settle(questionId: string, answer: Answer | null): void {
    const asked = this.#asked.get(questionId);
    if (!asked) return;
    this.#asked.delete(questionId);
    if (asked.chat.isAsking(questionId)) asked.chat.settle(questionId, answer);
    asked.resolve(answer);
    this.changed(asked.chat);
  }
}
