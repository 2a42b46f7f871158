// Events as VS Code has them, for modules that run without it.

import type { Disposable, Event } from "vscode";

export class Emitter<T> {
  readonly #listeners = new Set<(value: T) => void>();

  readonly event: Event<T> = (listener, self?: unknown, disposables?: Disposable[]) => {
    const call = (value: T): void => listener.call(self, value);
    this.#listeners.add(call);
    const subscription = { dispose: () => void this.#listeners.delete(call) };
    disposables?.push(subscription);
    return subscription;
  };

  fire(value: T): void {
    for (const listener of [...this.#listeners]) {
      listener(value);
    }
  }
}
