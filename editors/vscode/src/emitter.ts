// Events as VS Code has them, for modules that run without it.

import type { Disposable, Event } from "vscode";
import { attempt } from "./background";

export class Emitter<T> {
  readonly #listeners = new Set<(value: T) => void>();

  readonly event: Event<T> = (listener, self?: unknown, disposables?: Disposable[]) => {
    const call = (value: T): void => listener.call(self, value);
    this.#listeners.add(call);
    const subscription = {
      dispose: () => {
        this.#listeners.delete(call);
      },
    };
    disposables?.push(subscription);
    return subscription;
  };

  /** Tell all of them: one that fails silences no other. */
  fire(value: T): void {
    for (const listener of [...this.#listeners]) {
      attempt(() => listener(value));
    }
  }
}
