// What has changed goes to whoever looks, at a pace that people can follow.

import type { Disposable } from "vscode";
import type { Patch } from "./patches";
import type { Transcript } from "./transcript";

const PACE_MS = 50;

export class Showing implements Disposable {
  #show: ((patches: Patch[]) => void) | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly current: () => Transcript) {}

  get isWatched(): boolean {
    return this.#show !== undefined;
  }

  connect(show: (patches: Patch[]) => void): Disposable {
    this.current().showAll();
    this.#show = show;
    this.#flush();
    return { dispose: () => (this.#show = this.#show === show ? undefined : this.#show) };
  }

  changed(chat: Transcript): void {
    if (chat !== this.current() || !this.#show || !chat.hasChanges) return;
    this.#timer ??= setTimeout(() => this.#flush(), PACE_MS);
  }

  dispose(): void {
    clearTimeout(this.#timer);
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const chat = this.current();
    if (this.#show && chat.hasChanges) this.#show(chat.takeChanges());
  }
}
