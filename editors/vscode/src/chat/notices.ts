// Notifications of questions: while nobody sees the chat, they tell of what is asked there.

import { inBackground } from "../background";
import { Emitter } from "../emitter";
import type { Question } from "../protocol";
import { notifyUntil } from "../telling";
import { notificationLinks, notificationText } from "./notifying";

export class Notices {
  /** Questions that wait, with their answers. */
  readonly #asked = new Map<Question, Promise<unknown>>();
  /** Those of which a notification tells. */
  readonly #notified = new Set<Question>();
  readonly #appeared = new Emitter<void>();

  /** It waits for this answer. */
  ask(question: Question, answered: Promise<unknown>, isSeen: boolean): void {
    this.#asked.set(question, answered);
    const forget = () => this.#asked.delete(question);
    answered.then(forget, forget);
    if (!isSeen) this.#tell([question]);
  }

  /** The chat is hidden. */
  tellAll(): void {
    this.#tell(this.#asked.keys());
  }

  /** The chat is seen. */
  withdraw(): void {
    this.#appeared.fire();
  }

  /** Until it has an answer or is seen in the chat; each is told of once. */
  #tell(questions: Iterable<Question>): void {
    const appeared = new Promise((resolve) => {
      const subscription = this.#appeared.event(() => {
        subscription.dispose();
        resolve(undefined);
      });
    });
    for (const question of [...questions].filter((it) => !this.#notified.has(it))) {
      this.#notified.add(question);
      const over = Promise.race([this.#asked.get(question), appeared]).finally(() => this.#notified.delete(question));
      inBackground(notifyUntil(notificationText(question), notificationLinks(question), over));
    }
  }
}
