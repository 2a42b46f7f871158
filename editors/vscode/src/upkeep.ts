// What the model reads of a conversation, from the palette: add to it, take the last of it away, compact and clear it.

import { window } from "vscode";
import { inBackground } from "./background";
import type { Chat } from "./chat/chat";
import { CompactionWatch, compactedWords } from "./compaction";
import type { Odin } from "./odin";

export class UpkeepCommands {
  constructor(
    private readonly odin: Odin,
    private readonly chat: Chat,
    private readonly showChat: () => void,
  ) {}

  /** The chat shows what was noted. */
  async note(): Promise<void> {
    const text = await window.showInputBox({
      title: "Add Note",
      prompt: "The model reads the note with your next message.",
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
      inBackground(window.showInformationMessage("Odin: there is no message to remove."));
      return;
    }
    const told = "Odin: the model no longer reads the last message. To get another answer, continue.";
    const offer = async () => (await window.showInformationMessage(told, "Continue")) && this.chat.turns.goOnWithLast();
    inBackground(offer());
  }

  async compact(): Promise<void> {
    const focus = await window.showInputBox({
      title: "Compact Session",
      prompt: "What should the summary keep above all? Leave it empty if nothing matters more than the rest.",
      ignoreFocusOut: true,
    });
    if (focus === undefined) return;
    this.showChat();
    const turnId = crypto.randomUUID();
    const watch = new CompactionWatch(this.odin, turnId);
    try {
      const argument = { ...(await this.current()), focus: focus.trim(), turnId };
      const result = await this.odin.execute("odin.compact", argument);
      inBackground(window.showInformationMessage(`Odin: ${compactedWords(result, watch.isCancelled)}`));
    } finally {
      watch.dispose();
    }
  }

  async clear(): Promise<void> {
    if (!(await this.sessionId())) {
      inBackground(window.showInformationMessage("Odin: the session is empty."));
      return;
    }
    const confirm = "Clear";
    const detail = "Odin forgets all messages and todos of this session. Files stay as they are. You cannot undo this.";
    if ((await window.showWarningMessage("Clear the session?", { modal: true, detail }, confirm)) !== confirm) return;
    await this.chat.sessions.clear();
    inBackground(window.showInformationMessage("Odin: cleared the session."));
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
