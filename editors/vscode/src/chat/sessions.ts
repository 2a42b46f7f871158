// Which session the chat shows. What has happened in one, the server knows.

import { t } from "../l10n";
import type { Odin } from "../odin";
import type { SessionSummary } from "../protocol";
import type { Store } from "../session/store";
import { Transcript } from "../session/transcript";
import { wordsOf } from "../words";
import type { Asking } from "./asking";
import type { Kept } from "./kept";
import type { Reading } from "./reading";

export class ChatSessions {
  #restoring: Promise<void> | undefined;
  /** Another session is on its way, or has come: one after the other. */
  #switching: Promise<unknown> = Promise.resolve();
  /** How many are on their way. */
  #count = 0;
  /** Rises with every wish of the user for another session. */
  #wish = 0;
  /** The session that somebody else has asked for. */
  #wanted = "";

  constructor(
    private readonly odin: Odin,
    private readonly store: Store,
    private readonly kept: Kept,
    private readonly reading: Reading,
    private readonly asking: Asking,
  ) {
    store.onDidChange(() => this.#keep());
  }

  /** Go on where the last window ended. */
  restore(): Promise<void> {
    this.#restoring ??= this.#restore();
    return this.#restoring;
  }

  get hasRestored(): boolean {
    return this.#restoring !== undefined;
  }

  /** When the session is shown that the user wants. */
  async settled(): Promise<void> {
    await this.restore();
    await this.#switching;
  }

  async begin(): Promise<void> {
    await this.#switch(async () => {
      const { sessionId, title } = await this.odin.execute("odin.session.new", {});
      return this.store.name(new Transcript(), sessionId, title);
    });
  }

  async open(sessionId: string): Promise<void> {
    await this.#switch(async () => this.#opened(await this.reading.resume(sessionId)));
  }

  /** Have the server forget all that was said in the session. */
  async clear(): Promise<void> {
    const { sessionId } = this.store.shown.state.head;
    if (!sessionId) return;
    await this.#inOrder(async () => {
      this.#show(await this.#opened(await this.odin.execute("odin.clear", { sessionId })));
    });
  }

  /** What came before the first turn that is shown. */
  async showEarlier(): Promise<void> {
    await this.attempt(() => this.reading.readEarlier(this.store.shown));
  }

  /** A copy of the session that ends before that turn, whose words come back to be changed. */
  async forkAt(turnId: string): Promise<string | undefined> {
    const { shown } = this.store;
    const { sessionId } = shown.state.head;
    const message = shown.turn(turnId)?.number;
    if (!sessionId || message === undefined) return undefined;
    let draft: string | undefined;
    await this.#switch(async () => {
      const summary = await this.odin.execute("odin.session.fork", { sessionId, message });
      draft = summary.draft;
      return this.#opened(summary);
    });
    return draft;
  }

  async rename(sessionId: string, title: string): Promise<void> {
    await this.odin.execute("odin.session.rename", { sessionId, title });
  }

  async delete(sessionId: string): Promise<void> {
    await this.attempt(async () => {
      await this.odin.execute("odin.session.delete", { sessionId, confirm: true });
      this.store.forget(sessionId);
      if (this.store.shown.state.head.sessionId !== sessionId) return;
      this.kept.sessionId = undefined;
      this.#show(new Transcript());
    });
  }

  async list(query = ""): Promise<SessionSummary[]> {
    const { sessions } = await this.odin.execute("odin.session.list", query ? { query } : {});
    return sessions;
  }

  /** Somebody asks for a session. */
  switchStarted(sessionId: string): void {
    this.#wanted = sessionId;
  }

  /** Somebody else asked for a session: a command, or a message to one that is open in another window. One that nobody
   * asked for has been emptied. */
  async restoredElsewhere(sessionId: string): Promise<void> {
    const wanted = this.#wanted;
    this.#wanted = "";
    if (this.#count > 0) return;
    const { shown } = this.store;
    if (wanted !== shown.state.head.sessionId) await this.open(sessionId);
    else if (sessionId !== wanted) this.store.name(shown, sessionId);
  }

  /** The server is another one than before: what it knows is what there is. */
  async readAgain(): Promise<void> {
    const { shown } = this.store;
    const { sessionId } = shown.state.head;
    this.store.forgetAll();
    if (!sessionId || shown.state.turns.length === 0) return;
    await this.#inOrder(() =>
      this.attempt(async () => {
        const summary = await this.reading.resume(sessionId);
        this.store.name(shown, summary.sessionId, summary.title);
        await this.reading.read(shown, summary.sessionId);
        this.asking.askIn(shown);
      }),
    );
  }

  /** Do it; what goes wrong is told in the chat. */
  async attempt(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.store.shown.notice("error", wordsOf(error));
    }
    this.store.changed();
  }

  async #restore(): Promise<void> {
    const { sessionId } = this.kept;
    if (this.store.shown.state.head.sessionId || !sessionId) return;
    this.store.set({ isRestoring: true });
    await this.#inOrder(async () => {
      try {
        this.#show(await this.#opened(await this.reading.resume(sessionId)));
      } catch (error) {
        // Without a server there is nothing to go on with yet: it is tried again when there is one.
        if (this.odin.state.kind !== "ready") this.#restoring = undefined;
        else this.store.shown.notice("warning", t("Could not open the last session: {0}", wordsOf(error)));
      }
    });
    this.store.set({ isRestoring: false });
  }

  /** Of several wishes that come quickly only the last counts. */
  async #switch(open: () => Promise<Transcript>): Promise<void> {
    this.#wish += 1;
    const wish = this.#wish;
    await this.#inOrder(async () => {
      if (wish !== this.#wish) return;
      await this.attempt(async () => this.#show(await open()));
    });
  }

  #inOrder(work: () => Promise<void>): Promise<void> {
    this.#count += 1;
    const done = this.#switching.then(work).finally(() => {
      this.#count -= 1;
    });
    this.#switching = done.catch(() => {}); // told to whoever waits for it
    return done;
  }

  async #opened({ sessionId, title }: SessionSummary): Promise<Transcript> {
    const going = this.store.going(sessionId);
    if (going) return going;
    const session = this.store.name(new Transcript(), sessionId, title);
    await this.reading.read(session, sessionId);
    return session;
  }

  #show(session: Transcript): void {
    this.store.show(session);
    this.asking.askIn(session);
    this.store.changed();
  }

  /** The next window begins with the session that is shown. */
  #keep(): void {
    const { sessionId } = this.store.shown.state.head;
    if (sessionId && sessionId !== this.kept.sessionId) this.kept.sessionId = sessionId;
  }
}
