// What has happened in a session, from its server. What is told meanwhile comes after it.

import type { Odin } from "../odin";
import type { EventRecord, SessionSummary } from "../protocol";
import type { Store } from "../session/store";
import type { Transcript } from "../session/transcript";

export class Reading {
  constructor(
    private readonly odin: Odin,
    private readonly store: Store,
    private readonly told: (session: Transcript, record: EventRecord) => void,
  ) {}

  /** The server finds what waits for a review first: a turn that waits for none has ended. */
  async resume(sessionId: string): Promise<SessionSummary> {
    await this.odin.execute("odin.review.list", {});
    return this.odin.execute("odin.session.resume", { sessionId });
  }

  async read(session: Transcript, sessionId: string): Promise<void> {
    const release = this.store.hold(session, this.told);
    let seq = 0;
    try {
      const page = await this.odin.execute("odin.session.events", { sessionId });
      session.read(page);
      seq = page.seq ?? 0;
      session.settleWith(await this.odin.execute("odin.state", { sessionId }));
      const { proposals } = await this.odin.execute("odin.review.list", {});
      session.setReviews(proposals);
    } finally {
      release(seq);
    }
  }

  /** The page before the first turn that is shown. */
  async readEarlier(session: Transcript): Promise<void> {
    const { before } = session;
    const { sessionId } = session.state.head;
    if (!sessionId || before === undefined) return;
    const page = await this.odin.execute("odin.session.events", { sessionId, before });
    if (session.before === before) session.readEarlier(page);
  }
}
