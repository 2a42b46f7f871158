// Messages that wait while a turn runs.

import type { AfterCancel, Odin } from "../odin";
import type { QueuedMessage, TurnEdited } from "../protocol";
import type { Transcript } from "../session/transcript";

export class MessageQueue {
  constructor(private readonly odin: Odin) {}

  /** Cancel the turn that runs. Returns what was given back of the messages behind it. */
  async cancel(chat: Transcript, queue: AfterCancel): Promise<QueuedMessage[]> {
    const turnId = chat.state.head.running;
    if (!turnId && queue !== "return") return [];
    const { returned = [] } = await this.odin.execute("odin.cancel", { ...(turnId ? { turnId } : {}), queue });
    for (const it of returned) chat.unqueue(it.turnId);
    return returned;
  }

  /** Begin with what waits since a turn was cancelled. */
  async resume(): Promise<void> {
    await this.odin.execute("odin.queue", { action: "resume" });
  }

  async edit(chat: Transcript, turnId: string, text: string): Promise<void> {
    const waiting = chat.waiting(turnId);
    if (!waiting) return;
    if (!waiting.lost) await this.odin.execute("odin.queue", { action: "edit", turnId, text });
    const queue = chat.state.head.queue.map((it) => (it.turnId === turnId ? { ...it, body: text } : it));
    chat.setHead({ queue });
  }

  /** A message that waits was changed, perhaps by another front end. */
  edited(chat: Transcript, turnId: string, { text, mode }: Pick<TurnEdited, "text" | "mode">): void {
    const queue = chat.state.head.queue.map((it) => (it.turnId === turnId ? { ...it, body: text, mode } : it));
    if (chat.waiting(turnId)) chat.setHead({ queue });
  }

  async remove(chat: Transcript, turnId: string): Promise<void> {
    if (!chat.waiting(turnId)?.lost) await this.odin.execute("odin.queue", { action: "remove", turnId });
    chat.unqueue(turnId);
  }

  /** A message that is queued may come from a code action: ask what it says. */
  async take(chat: Transcript, turnId: string): Promise<void> {
    const started = chat.turn(turnId);
    if (started?.mode) {
      chat.withdraw(turnId);
      chat.enqueue({ turnId, body: started.said, mode: started.mode, lost: false });
    } else if (!chat.waiting(turnId)) {
      const { queue } = await this.odin.execute("odin.queue", { action: "list" });
      const found = queue.find((it) => it.turnId === turnId);
      const hasBegun = chat.turn(turnId)?.number !== undefined;
      if (found && !hasBegun) {
        const { timestamp: _, ...message } = found;
        chat.enqueue({ ...message, lost: false });
      }
    }
  }
}
