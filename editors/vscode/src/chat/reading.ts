// What has happened in a session, from its server. What is told meanwhile comes after it.

import type { Odin } from "../odin";
import type { EventRecord, SessionSummary } from "../protocol";
import type { Transcript } from "./transcript";

export class Reading {
  /** What is told of those that are being read. */
  readonly #held = new Map<Transcript, EventRecord[]>();

  constructor(
    private readonly odin: Odin,
    private readonly tell: (chat: Transcript, record: EventRecord) => void,
  ) {}

  /** The server finds what waits for a review first: a turn that waits for none has ended. */
  async resume(sessionId: string): Promise<SessionSummary> {
    await this.odin.execute("odin.review.list", {});
    return this.odin.execute("odin.session.resume", { sessionId });
  }

  /** Whether the event is told later. */
  holds(chat: Transcript, record: EventRecord): boolean {
    return this.#held.get(chat)?.push(record) !== undefined;
  }

  async read(chat: Transcript, sessionId: string): Promise<void> {
    const held: EventRecord[] = [];
    this.#held.set(chat, held);
    let seq = 0;
    try {
      const page = await this.odin.execute("odin.session.events", { sessionId });
      chat.read(page);
      seq = page.seq ?? 0;
    } finally {
      this.#held.delete(chat);
      for (const record of held) if (record.seq > seq) this.tell(chat, record);
    }
    chat.settleWith(await this.odin.execute("odin.state", { sessionId }));
    const { proposals } = await this.odin.execute("odin.review.list", {});
    chat.setReviews(proposals);
  }

  /** The page before the first turn that is shown. */
  async readEarlier(chat: Transcript): Promise<void> {
    const { before } = chat;
    const { sessionId } = chat.state.head;
    if (!sessionId || before === undefined) return;
    const page = await this.odin.execute("odin.session.events", { sessionId, before });
    if (chat.before === before) chat.readEarlier(page);
  }
}
