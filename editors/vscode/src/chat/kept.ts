// What outlives the window and is not with the server: which session was shown, and what went with messages.

import type { Memento } from "vscode";
import { inBackground } from "../background";
import type { ContextItem } from "../protocol";

const KEY = "odin.chat";

interface Saved {
  sessionId?: string;
  /** Of turns that have not ended, by their ids. */
  contexts?: Record<string, readonly ContextItem[]>;
}

export class Kept {
  readonly #store: Pick<Memento, "get" | "update">;
  #sessionId: string | undefined;
  readonly #contexts: Map<string, readonly ContextItem[]>;
  readonly #open: Set<string>;

  constructor(store: Pick<Memento, "get" | "update">) {
    this.#store = store;
    const { sessionId, contexts = {} } = store.get<Saved>(KEY) ?? {};
    this.#sessionId = sessionId;
    this.#contexts = new Map(Object.entries(contexts));
    this.#open = new Set(this.#contexts.keys());
  }

  get sessionId(): string | undefined {
    return this.#sessionId;
  }

  set sessionId(sessionId: string | undefined) {
    this.#sessionId = sessionId;
    this.#save();
  }

  contextOf(turnId: string): readonly ContextItem[] | undefined {
    return this.#contexts.get(turnId);
  }

  begin(turnId: string, context: readonly ContextItem[]): void {
    if (context.length === 0) return;
    this.#contexts.set(turnId, context);
    this.#open.add(turnId);
    this.#save();
  }

  /** It stays for asking again as long as the window does. */
  end(turnId: string): void {
    if (this.#open.delete(turnId)) this.#save();
  }

  #save(): void {
    const contexts = Object.fromEntries([...this.#contexts].filter(([turnId]) => this.#open.has(turnId)));
    const saved: Saved = { ...(this.#sessionId ? { sessionId: this.#sessionId } : {}), contexts };
    inBackground(this.#store.update(KEY, saved));
  }
}
