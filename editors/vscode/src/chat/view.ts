// The chat in the sidebar. The page comes and goes with its visibility; what it shows is kept here.

import { randomBytes } from "node:crypto";
import {
  commands,
  type Disposable,
  env,
  Uri,
  type WebviewView,
  type WebviewViewProvider,
  window,
  workspace,
} from "vscode";
import type { AnswerQuestion, Odin } from "../odin";
import type { OpenTurnParams, Question } from "../protocol";
import { ago, counted } from "../words";
import type { Conversation } from "./conversation";
import { leadsToWeb } from "./links";
import { type FromPage, OWN_COMMANDS, type ToPage } from "./messages";
import { notificationText, notifiedOptions } from "./notifying";
import { pageHtml } from "./page";
import type { TurnHead } from "./state";
import { existing, itemsOf, lookedAt, Mentions, openPlace } from "./surroundings";

const ID = "odin.chat";
const LOOK_PAUSE_MS = 100;
const RECENT = 4;
const SHOW = "Show in Chat";

const REVIEW_COMMANDS = {
  open: "odin.vscode.review",
  accept: "odin.vscode.acceptAll",
  reject: "odin.vscode.rejectAll",
  drop: "odin.vscode.rejectAll",
};

export class ChatView implements WebviewViewProvider, Disposable {
  readonly #subscriptions: Disposable[];
  #view: WebviewView | undefined;
  #connection: Disposable | undefined;
  #mentions: Mentions | undefined;
  #pause: NodeJS.Timeout | undefined;
  #wantsFocus = false;
  #hasFocus = false;
  /** Questions that wait for an answer. */
  #asking = 0;
  /** Words that belong into the input, until there is a page. */
  #returned: string[] = [];
  /** A turn to be scrolled to, once there is a page. */
  #wanted: string | undefined;

  constructor(
    private readonly extension: Uri,
    private readonly odin: Odin,
    private readonly chat: Conversation,
    /** Somebody looks at it. */
    private readonly seen: () => void,
  ) {
    this.#subscriptions = [
      window.registerWebviewViewProvider(ID, this),
      window.onDidChangeActiveTextEditor(() => this.#lookSoon()),
      window.onDidChangeTextEditorSelection(() => this.#lookSoon()),
      odin.onDidChangeState(() => void this.#showRecent()),
      chat.onDidReturn((text) => void this.#giveBack(text)),
    ];
  }

  /** Ask in the chat; if nobody sees it, a notification tells of it. */
  readonly answer: AnswerQuestion = (question, token) => {
    const answered = this.chat.ask(question, token);
    if (!this.#view?.visible) void this.#notify(question);
    this.#asking += 1;
    this.#showBadge();
    return answered.finally(() => {
      this.#asking -= 1;
      this.#showBadge();
    });
  };

  resolveWebviewView(view: WebviewView): void {
    const files = Uri.joinPath(this.extension, "dist");
    const { webview } = view;
    webview.options = { enableScripts: true, localResourceRoots: [files] };
    webview.onDidReceiveMessage((message: FromPage) => this.#take(message));
    view.onDidChangeVisibility(() => {
      if (!view.visible) this.#disconnect();
    });
    view.onDidDispose(() => {
      this.#disconnect();
      this.#view = undefined;
    });
    this.#view = view;
    this.#showBadge();
    webview.html = pageHtml({
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

  /** Have the session in the chat, where the turn begins. */
  async showTurn({ sessionId, turnId }: OpenTurnParams): Promise<void> {
    const { chat } = this;
    await this.reveal(true);
    await chat.restore();
    await chat.openSession(sessionId);
    while (chat.state.head.hasEarlier && !chat.state.turns.some((it) => it.head.id === turnId)) {
      const count = chat.state.turns.length;
      await chat.showEarlier();
      if (chat.state.turns.length === count) break;
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
    clearTimeout(this.#pause);
    this.#connection?.dispose();
    this.#mentions?.dispose();
    for (const subscription of this.#subscriptions) subscription.dispose();
  }

  async #take(message: FromPage): Promise<void> {
    const { chat } = this;
    switch (message.type) {
      case "ready":
        return this.#begin();
      case "focused":
        this.#hasFocus = message.isFocused;
        return;
      case "send":
        await chat.take(message.mode, message.text, message.attachments.flatMap(itemsOf));
        return;
      case "stop":
        return chat.cancel(message.queue);
      case "stopHelper":
        return chat.cancelHelper(message.agentId);
      case "stopCompaction":
        return chat.cancelCompaction();
      case "retry":
        await chat.retry(message.turnId);
        return;
      case "continue":
        await chat.goOn(message.turnId);
        return;
      case "earlier":
        return chat.showEarlier();
      case "fork":
        return this.#fork(message.turnId);
      case "bringBack":
        return chat.bringBack(message.turnId);
      case "undo":
        return chat.undo(message.turnId);
      case "queueResume":
        return chat.goOnWithLast();
      case "queueEdit":
        return chat.editQueued(message.turnId, message.text);
      case "queueRemove":
        return chat.removeQueued(message.turnId);
      case "queueSend":
        await chat.sendQueued(message.turnId);
        return;
      case "answer": {
        const { questionId, optionIds, text, command } = message;
        return chat.answer(questionId, { optionIds, ...(text ? { text } : {}), ...(command ? { command } : {}) });
      }
      case "openSession":
        return chat.openSession(message.sessionId);
      case "review":
        if (message.decision === "drop" && (await chat.cancelWithReview(message.proposalId))) return;
        return this.#run(REVIEW_COMMANDS[message.decision], { proposalId: message.proposalId });
      case "complete":
        this.#mentions ??= new Mentions();
        this.#post({
          type: "completions",
          request: message.request,
          completions: await this.#mentions.complete(message.word),
        });
        return;
      default:
        return this.#takeOutside(message);
    }
  }

  /** What leads out of the chat. */
  async #takeOutside(message: FromPage): Promise<void> {
    switch (message.type) {
      case "find":
        return this.#post({ type: "found", paths: await existing(message.paths) });
      case "openFile":
        return openPlace(message.path);
      case "openPlan": {
        const plan = this.chat.planOf(message.turnId);
        if (plan) await window.showTextDocument(Uri.parse(plan));
        return;
      }
      case "openExternal":
        if (leadsToWeb(message.url)) await env.openExternal(Uri.parse(message.url));
        return;
      case "insert":
        return insert(message.text);
      case "copy":
        return env.clipboard.writeText(message.text);
      case "run": {
        const offered = this.chat.state.head.trouble?.actions.map((it) => it.command) ?? [];
        if (![...OWN_COMMANDS, ...offered].includes(message.command)) return;
        await this.#run(message.command, message.provider);
        if (message.command === "odin.vscode.selectModel") await this.chat.updateModel();
      }
    }
  }

  #begin(): void {
    this.#connection?.dispose();
    this.#connection = this.chat.connect((patches) => {
      this.#post({ type: "patches", patches });
      if (patches.some((it) => it.kind === "all")) void this.#showRecent();
    });
    this.#look();
    this.#handBack();
    this.#point();
    if (this.#wantsFocus) this.#focus();
    this.seen();
    void this.chat.restore();
  }

  #disconnect(): void {
    this.#connection?.dispose();
    this.#connection = undefined;
  }

  async #giveBack(text: string): Promise<void> {
    this.#returned.push(text);
    await this.reveal(false);
    if (this.#connection) this.#handBack();
  }

  #handBack(): void {
    for (const text of this.#returned.splice(0)) this.#post({ type: "returned", text });
  }

  #point(): void {
    if (this.#wanted !== undefined) this.#post({ type: "turn", turnId: this.#wanted });
    this.#wanted = undefined;
  }

  async #fork(turnId: string): Promise<void> {
    const changed = this.chat.changedFrom(turnId);
    const undone = changed.length > 0 ? await this.#chooseUndone(changed) : [];
    const draft = undone && (await this.chat.forkAt(turnId, undone));
    if (draft !== undefined) this.#post({ type: "draft", text: draft });
  }

  /** Which of these turns are to be undone; `undefined` if the user would rather leave all as it is. */
  async #chooseUndone(changed: TurnHead[]): Promise<TurnHead[] | undefined> {
    const undo = `Undo the Changes of ${counted(changed.length, "Turn")}`;
    const keep = "Keep the Files";
    const names = changed.flatMap((it) => it.changed).map((it) => workspace.asRelativePath(Uri.parse(it)));
    const detail = `Odin has changed since:\n${[...new Set(names)].sort().join("\n")}`;
    const question = "Undo the changes since this message, too?";
    const chosen = await window.showWarningMessage(question, { modal: true, detail }, undo, keep);
    if (chosen === undo) return changed;
    return chosen === keep ? [] : undefined;
  }

  async #showRecent(): Promise<void> {
    if (!this.#view?.visible || this.odin.state.kind !== "ready" || this.chat.state.turns.length > 0) return;
    const sessions = (await this.chat.sessions("")).filter((it) => it.messages > 0).slice(0, RECENT);
    const rows = sessions.map(({ sessionId: id, title, updatedAt }) => ({ id, title, when: ago(updatedAt) }));
    this.#post({ type: "recent", sessions: rows });
  }

  async #notify(question: Question): Promise<void> {
    const options = notifiedOptions(question);
    const labels = options.map((it) => it.label);
    const chosen = await window.showWarningMessage(notificationText(question), ...labels, SHOW);
    const option = options.find((it) => it.label === chosen);
    if (chosen === SHOW) await this.reveal(false);
    else if (option) this.chat.answer(question.questionId, { optionIds: [option.id] });
  }

  #showBadge(): void {
    if (!this.#view) return;
    this.#view.badge = this.#asking > 0 ? { value: this.#asking, tooltip: "Odin asks you something" } : undefined;
  }

  #focus(): void {
    this.#wantsFocus = false;
    this.#post({ type: "focus" });
  }

  #lookSoon(): void {
    clearTimeout(this.#pause);
    this.#pause = setTimeout(() => this.#look(), LOOK_PAUSE_MS);
  }

  #look(): void {
    if (this.#view?.visible) this.#post({ type: "attached", attached: lookedAt() });
  }

  #post(message: ToPage): void {
    void this.#view?.webview.postMessage(message);
  }

  async #run(command: string, ...given: unknown[]): Promise<void> {
    await commands.executeCommand(command, ...given);
  }
}

async function insert(text: string): Promise<void> {
  const editor = window.activeTextEditor ?? window.visibleTextEditors[0];
  if (editor) await editor.edit((edit) => edit.replace(editor.selection, text));
  else await window.showTextDocument(await workspace.openTextDocument({ content: text }));
}
