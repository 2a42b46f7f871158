// What turns have changed is undone, and brought back.

import { t } from "../l10n";
import type { Odin } from "../odin";
import { nameOf } from "../session/reviews";
import type { Transcript } from "../session/transcript";

export class Undoing {
  constructor(private readonly odin: Odin) {}

  async undo(chat: Transcript, turnId: string): Promise<void> {
    const { restored, kept, undoId } = await this.odin.execute("odin.undoTurn", { turnId });
    chat.setTurn(turnId, { undone: { restored, kept, ...(undoId ? { undoId } : {}) } });
  }

  /** Of a session that is not shown any more: what stays is told in the one that is. */
  async undoBehind(left: Transcript, turnId: string, shown: Transcript): Promise<void> {
    await this.undo(left, turnId);
    for (const { uri, reason } of left.turn(turnId)?.undone?.kept ?? []) {
      shown.notice("warning", t("{0} was not undone: {1}", nameOf(uri), reason));
    }
  }

  /** Undo the undo of a turn. */
  async bringBack(chat: Transcript, turnId: string): Promise<void> {
    const undoId = chat.turn(turnId)?.undone?.undoId;
    if (!undoId) return;
    const { restored, kept } = await this.odin.execute("odin.undoTurn", { turnId: undoId });
    if (restored.length > 0) chat.setTurn(turnId, { undone: undefined });
    for (const { uri, reason } of kept) {
      chat.notice("warning", t("{0} was not brought back: {1}", nameOf(uri), reason));
    }
  }
}
