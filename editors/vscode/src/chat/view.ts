// The chat in the sidebar. The page comes and goes with its visibility; what it shows is kept here.

import { randomBytes } from "node:crypto";
import { commands, type Disposable, Uri, type WebviewView, type WebviewViewProvider, window, workspace } from "vscode";
import { inBackground } from "../background";
import { attachmentsIn } from "../context";
import { spoken } from "../l10n";
import type { AnswerQuestion, Odin } from "../odin";
import type { OpenTurnParams } from "../protocol";
import { badgeOf } from "../session/selectors";
import { describe } from "../telling";
import { ago } from "../words";
import type { Chat } from "./chat";
import { Looking } from "./looking";
import type { Attachment, FromPage, Returned, ToPage } from "./messages";
import { Notices } from "./notices";
import { ANSWER } from "./notifying";
import { pageHtml } from "./page";
import { Requests } from "./requests";

const ID = "odin.chat";
const RECENT = 4;

export class ChatView implements WebviewViewProvider, Disposable {
  readonly #subscriptions: Disposable[];
  #view: WebviewView | undefined;
  #connection: Disposable | undefined;
  #wantsFocus = false;
  #hasFocus = false;
  readonly #requests: Requests;
  readonly #notices = new Notices();
  readonly #looking = new Looking((looked) => {
    if (this.#view?.visible) this.#post({ type: "looked", looked });
  });
  /** What belongs into the input, until there is a page. */
  #returned: Returned[] = [];
  #attached: Attachment[] = [];
  /** A turn to be scrolled to, once there is a page. */
  #wanted: string | undefined;

  constructor(
    private readonly extension: Uri,
    private readonly odin: Odin,
    private readonly chat: Chat,
    /** Somebody looks at it. */
    private readonly seen: () => void,
  ) {
    this.#requests = new Requests(odin, chat, {
      post: (message) => this.#post(message),
      attach: (attachments) => this.attach(attachments),
    });
    this.#subscriptions = [
      this.#requests,
      window.registerWebviewViewProvider(ID, this),
      commands.registerCommand(ANSWER, (questionId: string, optionId: string) =>
        chat.questions.answer(questionId, { optionIds: [optionId] }),
      ),
      this.#looking,
      window.onDidChangeWindowState(() => this.#appear()),
      chat.store.onDidChange(() => this.#showHead()),
      odin.onDidChangeState(() => inBackground(this.#showRecent())),
      chat.turns.onDidReturn((returned) => inBackground(this.#giveBack(returned))),
    ];
  }

  /** Ask in the chat; while nobody sees it, there or because the window is not in front, a notification tells of it. */
  readonly answer: AnswerQuestion = (question, token) => {
    const answered = this.chat.questions.ask(question, token);
    this.#notices.ask(question, answered, this.#isSeen);
    return answered;
  };

  resolveWebviewView(view: WebviewView): void {
    const files = Uri.joinPath(this.extension, "dist");
    const { webview } = view;
    webview.options = { enableScripts: true, localResourceRoots: [files] };
    webview.onDidReceiveMessage((message: FromPage) => this.#take(message));
    view.onDidChangeVisibility(() => {
      if (view.visible) this.#appear();
      else this.#disconnect();
    });
    view.onDidDispose(() => {
      this.#disconnect();
      this.#view = undefined;
    });
    this.#view = view;
    this.#showHead();
    webview.html = pageHtml({
      ...spoken(),
      nonce: randomBytes(18).toString("base64"),
      source: webview.cspSource,
      script: webview.asWebviewUri(Uri.joinPath(files, "webview.js")).toString(),
      style: webview.asWebviewUri(Uri.joinPath(files, "webview-style.css")).toString(),
    });
  }

  async reveal(preserveFocus: boolean): Promise<void> {
    this.#wantsFocus = !preserveFocus;
    if (this.#view) this.#view.show(preserveFocus);
    else await commands.executeCommand(`${ID}.focus`, { preserveFocus });
    if (this.#wantsFocus && this.#view?.visible) this.#focus();
  }

  /** Have these go with the next message. */
  async attach(attachments: readonly Attachment[]): Promise<void> {
    this.#attached.push(...attachments);
    await this.reveal(false);
    if (this.#connection) this.#handBack();
  }

  /** Have the session in the chat, where the turn begins. */
  async showTurn({ sessionId, turnId }: OpenTurnParams): Promise<void> {
    const { chat } = this;
    await this.reveal(true);
    await chat.sessions.restore();
    await chat.sessions.open(sessionId);
    while (
      chat.store.shown.state.head.hasEarlier &&
      !chat.store.shown.state.turns.some((it) => it.head.id === turnId)
    ) {
      const count = chat.store.shown.state.turns.length;
      await chat.sessions.showEarlier();
      if (chat.store.shown.state.turns.length === count) break;
    }
    this.#wanted = turnId;
    if (this.#connection) this.#point();
  }

  /** For something that takes the focus: what comes back returns it, if it was here. */
  holdFocus(): () => Promise<void> {
    const hadFocus = this.#hasFocus;
    return async () => {
      if (hadFocus) await this.reveal(false);
    };
  }

  dispose(): void {
    this.#connection?.dispose();
    for (const subscription of this.#subscriptions) subscription.dispose();
  }

  async #take(message: FromPage): Promise<void> {
    if (message.type === "ready") this.#begin();
    else if (message.type === "focused") this.#hasFocus = message.isFocused;
    else await this.#requests.take(message);
  }

  #begin(): void {
    this.#connection?.dispose();
    this.#connection = this.chat.showing.connect((patches) => {
      this.#post({ type: "patches", patches });
      if (patches.some((it) => it.kind === "all")) inBackground(this.#showRecent());
    });
    this.#looking.tellNow();
    this.#handBack();
    this.#point();
    if (this.#wantsFocus) this.#focus();
    this.seen();
    inBackground(this.chat.sessions.restore());
  }

  #disconnect(): void {
    this.#connection?.dispose();
    this.#connection = undefined;
    this.#notices.tellAll();
  }

  get #isSeen(): boolean {
    return window.state.focused && this.#view?.visible === true;
  }

  #appear(): void {
    if (this.#isSeen) this.#notices.withdraw();
  }

  async #giveBack(returned: Returned): Promise<void> {
    this.#returned.push(returned);
    this.#attached.push(...attachmentsIn(returned.context, (uri) => workspace.asRelativePath(Uri.parse(uri))));
    await this.reveal(false);
    if (this.#connection) this.#handBack();
  }

  #handBack(): void {
    for (const { text, pictures } of this.#returned.splice(0)) {
      this.#post({ type: "returned", text });
      if (pictures.length > 0) this.#post({ type: "pictures", pictures });
    }
    if (this.#attached.length > 0) this.#post({ type: "attached", attachments: this.#attached.splice(0) });
  }

  #point(): void {
    if (this.#wanted !== undefined) this.#post({ type: "turn", turnId: this.#wanted });
    this.#wanted = undefined;
  }

  async #showRecent(): Promise<void> {
    if (!this.#view?.visible || this.odin.state.kind !== "ready" || this.chat.store.shown.state.turns.length > 0)
      return;
    const sessions = (await this.chat.sessions.list("")).filter((it) => it.messages > 0).slice(0, RECENT);
    const rows = sessions.map(({ sessionId: id, title, updatedAt }) => ({ id, title, when: ago(updatedAt) }));
    this.#post({ type: "recent", sessions: rows });
  }

  /** What VS Code shows of the chat around the page: the session's title, and how much is asked. */
  #showHead(): void {
    if (!this.#view) return;
    const { title } = this.chat.store.shown.state.head;
    describe(this.#view, title);
    const badge = badgeOf(this.chat.store);
    if (badge?.value !== this.#view.badge?.value) this.#view.badge = badge;
  }

  #focus(): void {
    this.#wantsFocus = false;
    this.#post({ type: "focus" });
  }

  #post(message: ToPage): void {
    inBackground(this.#view?.webview.postMessage(message));
  }
}
