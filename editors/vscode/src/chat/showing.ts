// What has changed goes to whoever looks, at a pace that people can follow.

import { isDeepStrictEqual } from "node:util";
import type { Disposable } from "vscode";
import type { Patch } from "../session/patches";
import { windowOf } from "../session/selectors";
import type { WindowState } from "../session/state";
import type { Store } from "../session/store";

const PACE_MS = 50;

export class Showing implements Disposable {
  readonly #subscription: Disposable;
  #show: ((patches: Patch[]) => void) | undefined;
  /** What was shown of the window last. */
  #window: WindowState | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly store: Store) {
    this.#subscription = store.onDidChange(() => {
      if (this.#show) this.#timer ??= setTimeout(() => this.#flush(), PACE_MS);
    });
  }

  get isWatched(): boolean {
    return this.#show !== undefined;
  }

  /** Have everything shown by `show` from now on, one change at a time; nothing is kept for whoever does not look. */
  connect(show: (patches: Patch[]) => void): Disposable {
    this.store.shown.showAll();
    this.#window = undefined;
    this.#show = show;
    this.#flush();
    return { dispose: () => (this.#show = this.#show === show ? undefined : this.#show) };
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#subscription.dispose();
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (!this.#show) return;
    const { shown } = this.store;
    const window = windowOf(this.store);
    const patches: Patch[] = isDeepStrictEqual(window, this.#window) ? [] : [{ kind: "window", window }];
    this.#window = window;
    if (shown.hasChanges) patches.push(...shown.takeChanges());
    if (patches.length > 0) this.#show(patches);
  }
}
