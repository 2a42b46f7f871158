// Questions of the server that wait for the user's answer.

import type { CancellationToken } from "vscode";
import type { Answer, Question } from "../protocol";
import type { Store } from "../session/store";
import type { Transcript } from "../session/transcript";

interface Asked {
  question: Question;
  session: Transcript;
  resolve: (answer: Answer | null) => void;
}

export class Asking {
  /** Whom to tell the answer. */
  readonly #asked = new Map<string, Asked>();

  constructor(private readonly store: Store) {}

  /** Show a question in the chat, and wait for the answer of `answer`; `null` if there is none. */
  ask(question: Question, token: CancellationToken): Promise<Answer | null> {
    const { questionId } = question;
    const session = this.store.shown;
    session.ask(question);
    this.store.ask(question);
    return new Promise((resolve) => {
      this.#asked.set(questionId, { question, session, resolve });
      token.onCancellationRequested(() => this.#settle(questionId, null));
      if (token.isCancellationRequested) this.#settle(questionId, null);
    });
  }

  answer(questionId: string, answer: Answer): void {
    this.#settle(questionId, answer);
  }

  /** The session is shown, or was read anew: what waits in no turn of another one that goes on is asked here. */
  askIn(session: Transcript): void {
    for (const asked of this.#asked.values()) {
      const { sessionId, running } = asked.session.state.head;
      if (running !== undefined && sessionId !== session.state.head.sessionId) continue;
      asked.session = session;
      session.ask(asked.question);
    }
  }

  /** Some are not shown as open any more. */
  giveUpUnasked(): void {
    for (const [questionId, { session }] of [...this.#asked]) {
      if (!session.isAsking(questionId)) this.#settle(questionId, null);
    }
  }

  giveUpAll(): void {
    for (const questionId of [...this.#asked.keys()]) this.#settle(questionId, null);
  }

  #settle(questionId: string, answer: Answer | null): void {
    const asked = this.#asked.get(questionId);
    if (!asked) return;
    this.#asked.delete(questionId);
    if (asked.session.isAsking(questionId)) asked.session.settle(questionId, answer);
    this.store.answered(questionId);
    asked.resolve(answer);
    this.store.changed();
  }
}
