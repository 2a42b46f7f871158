// Sessions from the palette: begin, resume, search, fork, rename, export and delete them.

import * as path from "node:path";
import { type QuickPickItem, Uri, window, workspace } from "vscode";
import { inBackground } from "./background";
import type { Chat } from "./chat/chat";
import { readableLine } from "./chat/text";
import { t, tn } from "./l10n";
import type { Odin } from "./odin";
import type { SessionSummary, TurnRecord } from "./protocol";
import { exportName } from "./session-names";
import { askForText, askUser, chooseFrom, itemOf, picker, tellUser } from "./telling";
import { ago } from "./words";

const SEARCH_PAUSE_MS = 200;
const FORMATS = {
  Markdown: { format: "markdown", extension: "md" },
  HTML: { format: "html", extension: "html" },
  JSON: { format: "json", extension: "json" },
} as const;

interface SessionItem extends QuickPickItem {
  session: SessionSummary;
}

export class SessionCommands {
  constructor(
    private readonly odin: Odin,
    private readonly chat: Chat,
    private readonly showChat: () => void,
  ) {}

  async begin(): Promise<void> {
    this.showChat();
    await this.chat.sessions.begin();
  }

  async resume(): Promise<void> {
    await this.open(await this.pick(t("Resume Session")));
  }

  /** In what was said, as it is typed. */
  async search(): Promise<void> {
    const list = picker<SessionItem>(t("Search Sessions"), t("Search messages and answers"));
    list.matchOnDescription = list.matchOnDetail = true;
    let pause: NodeJS.Timeout | undefined;
    let latest = "";
    const look = async (): Promise<void> => {
      const query = list.value.trim();
      latest = query;
      list.busy = true;
      const sessions = await this.chat.sessions.list(query);
      if (query === latest) {
        // What was found need not show the words in the order in which they were typed.
        list.items = sessions.map((it) => itemOf({ ...sessionItem(it), alwaysShow: true }));
        list.busy = false;
      }
    };
    const chosen = await new Promise<SessionSummary | undefined>((resolve, reject) => {
      list.onDidChangeValue(() => {
        clearTimeout(pause);
        pause = setTimeout(() => look().catch(reject), SEARCH_PAUSE_MS);
      });
      list.onDidAccept(() => resolve(list.selectedItems[0]?.session));
      list.onDidHide(() => resolve(undefined));
      list.show();
      look().catch(reject);
    }).finally(() => {
      clearTimeout(pause);
      list.dispose();
    });
    await this.open(chosen);
  }

  /** A copy of the current session: all of it, or what came before one of its messages. */
  async fork(): Promise<void> {
    const { messages, earlierMessages } = await this.odin.execute("odin.state", {});
    const whole = {
      label: t("The whole session"),
      index: undefined as number | undefined,
      turn: undefined as TurnRecord | undefined,
    };
    const points = messages
      .map((turn, index) => ({ label: t("Before “{0}”", oneLine(turn.body)), index: earlierMessages + index, turn }))
      .reverse();
    const chosen = await chooseFrom([whole, ...points], {
      title: t("Fork Session"),
      placeHolder: t("Select where the fork ends"),
    });
    if (!chosen) {
      return;
    }
    const fork = await this.odin.execute(
      "odin.session.fork",
      chosen.index === undefined ? {} : { message: chosen.index },
    );
    this.showChat();
    await this.chat.sessions.open(fork.sessionId);
    if (fork.draft !== undefined && chosen.turn) {
      const text = await askForText({ title: t("Edit Message"), value: fork.draft, ignoreFocusOut: true });
      if (text?.trim()) {
        await this.chat.turns.say(chosen.turn.mode, text);
      }
    }
  }

  /** One that is named, or chosen. */
  async rename(named?: SessionSummary): Promise<void> {
    const session = named ?? (await this.pick(t("Rename Session")));
    const title =
      session &&
      (await askForText({
        title: t("Rename Session"),
        value: session.title,
        validateInput: (it) => (it.trim() ? undefined : t("Enter a title.")),
      }));
    if (session && title) {
      await this.chat.sessions.rename(session.sessionId, title.trim());
    }
  }

  async export(): Promise<void> {
    const session = await this.pick(t("Export Session"));
    const kind =
      session &&
      (
        await chooseFrom(
          Object.keys(FORMATS).map((label) => ({ label })),
          { title: t("Export Session"), placeHolder: t("Format") },
        )
      )?.label;
    if (!session || !kind) {
      return;
    }
    const { format, extension } = FORMATS[kind as keyof typeof FORMATS];
    const name = exportName(session, extension);
    const folder = workspace.workspaceFolders?.[0]?.uri;
    const target = await window.showSaveDialog({
      title: t("Export Session"),
      defaultUri: folder ? Uri.joinPath(folder, name) : Uri.file(path.resolve(name)),
      filters: { [kind]: [extension] },
    });
    if (target) {
      const { uri } = await this.odin.execute("odin.session.export", {
        sessionId: session.sessionId,
        format,
        path: target.fsPath,
      });
      await window.showTextDocument(Uri.parse(uri), { preview: true });
    }
  }

  async delete(named?: SessionSummary): Promise<void> {
    const session = named ?? (await this.pick(t("Delete Session")));
    const confirm = t("Delete");
    const question = session && t("Delete session “{0}” permanently?", session.title);
    if (session && question && (await askUser(question, {}, confirm)) === confirm) {
      await this.chat.sessions.delete(session.sessionId);
    }
  }

  async open(session: SessionSummary | undefined): Promise<void> {
    if (session) {
      this.showChat();
      await this.chat.sessions.open(session.sessionId);
    }
  }

  private async pick(title: string): Promise<SessionSummary | undefined> {
    const items = this.chat.sessions.list("").then((sessions) => sessions.map(sessionItem));
    const options = { title, placeHolder: t("Session"), matchOnDescription: true, matchOnDetail: true };
    if ((await items).length === 0) {
      inBackground(tellUser("info", t("Odin: This workspace has no sessions yet.")));
      return undefined;
    }
    return (await chooseFrom(items, options))?.session;
  }
}

export function sessionItem(session: SessionSummary): SessionItem {
  const about = [
    ago(session.updatedAt),
    tn(session.messages, "{0} message", "{0} messages"),
    session.locked ? t("open elsewhere") : "",
  ];
  return {
    session,
    label: oneLine(session.title) || t("Untitled"),
    description: about.filter(Boolean).join(" · "),
    detail: oneLine(session.excerpt ?? session.firstMessage),
  };
}

function oneLine(text: string): string {
  return readableLine(text.replace(/\s+/g, " ").trim(), 120);
}
