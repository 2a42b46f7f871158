// What the model reads of a conversation, from the palette: add to it, take the last of it away, compact and clear it.

import { inBackground } from "./background";
import type { Chat } from "./chat/chat";
import { CompactionWatch, compactedWords } from "./compaction";
import { t } from "./l10n";
import type { Odin } from "./odin";
import { askForText, askUser, tellUser } from "./telling";

export class UpkeepCommands {
  constructor(
    private readonly odin: Odin,
    private readonly chat: Chat,
    private readonly showChat: () => void,
  ) {}

  /** The chat shows what was noted. */
  async note(): Promise<void> {
    const text = await askForText({
      title: t("Add Note"),
      prompt: t("The model reads the note with your next message."),
      ignoreFocusOut: true,
    });
    if (!text?.trim()) return;
    this.showChat();
    if (!(await this.sessionId())) await this.chat.sessions.begin();
    await this.odin.execute("odin.note", { ...(await this.current()), text: text.trim() });
  }

  async removeLast(): Promise<void> {
    const { removed } = await this.odin.execute("odin.removeLast", await this.current());
    if (!removed) {
      inBackground(tellUser("info", t("Odin: There is no message to remove.")));
      return;
    }
    const told = t("Odin: The model no longer reads the last message. To get another answer, continue.");
    const offer = async () => (await tellUser("info", told, t("Continue"))) && this.chat.turns.goOnWithLast();
    inBackground(offer());
  }

  async compact(): Promise<void> {
    const focus = await askForText({
      title: t("Compact Session"),
      prompt: t("What must the summary keep? (optional)"),
      ignoreFocusOut: true,
    });
    if (focus === undefined) return;
    this.showChat();
    const turnId = crypto.randomUUID();
    const watch = new CompactionWatch(this.odin, turnId);
    try {
      const argument = { ...(await this.current()), focus: focus.trim(), turnId };
      const result = await this.odin.execute("odin.compact", argument);
      inBackground(tellUser("info", compactedWords(result, watch.isCancelled)));
    } finally {
      watch.dispose();
    }
  }

  async clear(): Promise<void> {
    if (!(await this.sessionId())) {
      inBackground(tellUser("info", t("Odin: The session is empty.")));
      return;
    }
    const confirm = t("Clear");
    const detail = t("Odin forgets all messages and todos of this session. Files do not change. You cannot undo this.");
    if ((await askUser(t("Clear the session?"), { detail }, confirm)) !== confirm) return;
    await this.chat.sessions.clear();
    inBackground(tellUser("info", t("Odin: Session cleared.")));
  }

  /** Of the session that is shown, or would be. */
  private async sessionId(): Promise<string | undefined> {
    await this.chat.sessions.restore();
    return this.chat.store.shown.state.head.sessionId;
  }

  private async current(): Promise<{ sessionId?: string }> {
    const sessionId = await this.sessionId();
    return sessionId ? { sessionId } : {};
  }
}
