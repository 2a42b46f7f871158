// The chat in the sidebar. The page comes and goes with its visibility; what it shows is kept here.

import { randomBytes } from "node:crypto";
import {
  commands,
  type Disposable,
  env,
  ProgressLocation,
  Uri,
  type WebviewView,
  type WebviewViewProvider,
  window,
} from "vscode";
import { inBackground } from "../background";
import { Emitter } from "../emitter";
import { spoken, t } from "../l10n";
import type { AnswerQuestion, Odin } from "../odin";
import type { OpenTurnParams, Question } from "../protocol";
import { badgeOf } from "../session/selectors";
import { ago } from "../words";
import { applyWords, fileIn } from "./applying";
import { chooseAttachments } from "./attaching";
import type { Chat } from "./chat";
import { leadsToWeb } from "./links";
import { Mentions } from "./mentions";
import { type Completion, type FromPage, type LocalModel, OWN_COMMANDS, type Sign, type ToPage } from "./messages";
import { ANSWER, notificationLinks, notificationText } from "./notifying";
import { chooseUndone, insert, intoTerminal } from "./outside";
import { pageHtml } from "./page";
import { ownCommand, slashCompletions } from "./slash";
import { existing, itemsOf, lookedAt, openPlace, targetOf } from "./surroundings";

const ID = "odin.chat";
const LOOK_PAUSE_MS = 100;
const RECENT = 4;

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
  /** Questions that wait, with their answers. */
  readonly #asked = new Map<Question, Promise<unknown>>();
  /** Those of which a notification tells. */
  readonly #notified = new Set<Question>();
  readonly #appeared = new Emitter<void>();
  /** What the page may offer. */
  #local: readonly LocalModel[] = [];
  /** Words that belong into the input, until there is a page. */
  #returned: string[] = [];
  /** A turn to be scrolled to, once there is a page. */
  #wanted: string | undefined;

  constructor(
    private readonly extension: Uri,
    private readonly odin: Odin,
    private readonly chat: Chat,
    /** Somebody looks at it. */
    private readonly seen: () => void,
  ) {
    this.#subscriptions = [
      window.registerWebviewViewProvider(ID, this),
      commands.registerCommand(ANSWER, (questionId: string, optionId: string) =>
        chat.questions.answer(questionId, { optionIds: [optionId] }),
      ),
      window.onDidChangeActiveTextEditor(() => this.#lookSoon()),
      window.onDidChangeTextEditorSelection(() => this.#lookSoon()),
      window.onDidChangeWindowState(() => this.#appear()),
      chat.store.onDidChange(() => this.#showHead()),
      odin.onDidChangeState(() => inBackground(this.#showRecent())),
      chat.turns.onDidReturn((text) => inBackground(this.#giveBack(text))),
    ];
  }

  /** Ask in the chat; while nobody sees it, there or because the window is not in front, a notification tells of it. */
  readonly answer: AnswerQuestion = (question, token) => {
    const answered = this.chat.questions.ask(question, token);
    this.#asked.set(question, answered);
    if (!this.#isSeen) this.#notify([question]);
    return answered.finally(() => this.#asked.delete(question));
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
      case "send": {
        const own = ownCommand(message.text);
        if (own) return this.#run(own);
        await chat.turns.say(message.mode, message.text, message.attachments.flatMap(itemsOf), message.images);
        return;
      }
      case "stop":
        return chat.turns.cancel(message.queue);
      case "stopHelper":
        return chat.turns.cancelHelper(message.agentId);
      case "stopCompaction":
        return chat.turns.cancelCompaction();
      case "retry":
        await chat.turns.retry(message.turnId);
        return;
      case "continue":
        await chat.turns.goOn(message.turnId);
        return;
      case "earlier":
        return chat.sessions.showEarlier();
      case "fork":
        return this.#fork(message.turnId);
      case "bringBack":
        return chat.turns.bringBack(message.turnId);
      case "undo":
        return chat.turns.undo(message.turnId);
      case "queueResume":
        return chat.turns.goOnWithLast();
      case "queueEdit":
        return chat.turns.editQueued(message.turnId, message.text);
      case "queueRemove":
        return chat.turns.removeQueued(message.turnId);
      case "queueSend":
        await chat.turns.sendQueued(message.turnId);
        return;
      case "answer": {
        const { questionId, optionIds, text, command } = message;
        return chat.questions.answer(questionId, {
          optionIds,
          ...(text ? { text } : {}),
          ...(command ? { command } : {}),
        });
      }
      case "openSession":
        return chat.sessions.open(message.sessionId);
      case "review":
        if (message.decision === "drop" && (await chat.turns.cancelWithReview(message.proposalId))) return;
        return this.#run(REVIEW_COMMANDS[message.decision], { proposalId: message.proposalId });
      case "complete":
        this.#post({ type: "completions", request: message.request, completions: await this.#completions(message) });
        return;
      default:
        return this.#takeOutside(message);
    }
  }

  async #completions({ sign, word }: { sign: Sign; word: string }): Promise<Completion[]> {
    if (sign === "/") return slashCompletions((await this.odin.execute("odin.slashCommands", {})).commands, word);
    return this.#mentionable().complete(word);
  }

  #mentionable(): Mentions {
    this.#mentions ??= new Mentions();
    return this.#mentions;
  }

  async #attach(): Promise<void> {
    const { attachments = [], pictures = [] } = (await chooseAttachments(this.#mentionable())) ?? {};
    this.#post({ type: "pictures", pictures });
    this.#post({ type: "attached", attachments });
    await this.reveal(false);
  }

  /** What leads out of the chat. */
  async #takeOutside(message: FromPage): Promise<void> {
    switch (message.type) {
      case "attach":
        return this.#attach();
      case "findLocal": {
        this.#local = await this.chat.localModels();
        return this.#post({ type: "local", models: [...this.#local] });
      }
      case "useModel":
        if (this.#local.some((it) => it.model === message.model)) await this.chat.selectModel(message.model);
        return;
      case "picture": {
        const { digest, mediaType } = message;
        const data = await this.chat.turns.attachment(digest);
        return data === undefined
          ? undefined
          : this.#post({ type: "picture", digest, url: `data:${mediaType};base64,${data}` });
      }
      case "find":
        return this.#post({ type: "found", paths: await existing(message.paths) });
      case "openFile":
        return openPlace(message.path);
      case "openPlan": {
        const plan = this.chat.store.shown.turn(message.turnId)?.plan;
        if (plan) await window.showTextDocument(Uri.parse(plan));
        return;
      }
      case "runPlan": {
        const plan = this.chat.store.shown.turn(message.turnId)?.plan;
        if (plan) await this.chat.turns.runPlan(plan);
        return;
      }
      case "openExternal":
        if (leadsToWeb(message.url)) await env.openExternal(Uri.parse(message.url));
        return;
      case "insert":
        return insert(message.text);
      case "apply":
        return this.#apply(message.code, message.info);
      case "terminal":
        return intoTerminal(message.command);
      case "copy":
        return env.clipboard.writeText(message.text);
      case "run": {
        const { server } = this.chat.store;
        const offered = server.kind === "failed" ? server.actions.map((it) => it.command) : [];
        if (![...OWN_COMMANDS, ...offered].includes(message.command)) return;
        await this.#run(message.command, message.provider);
        if (message.command === "odin.vscode.selectModel") await this.chat.updateModel();
      }
    }
  }

  #begin(): void {
    this.#connection?.dispose();
    this.#connection = this.chat.showing.connect((patches) => {
      this.#post({ type: "patches", patches });
      if (patches.some((it) => it.kind === "all")) inBackground(this.#showRecent());
    });
    this.#look();
    this.#handBack();
    this.#point();
    if (this.#wantsFocus) this.#focus();
    this.seen();
    inBackground(this.chat.sessions.restore());
  }

  #disconnect(): void {
    this.#connection?.dispose();
    this.#connection = undefined;
    this.#notify();
  }

  get #isSeen(): boolean {
    return window.state.focused && this.#view?.visible === true;
  }

  #appear(): void {
    if (this.#isSeen) this.#appeared.fire();
  }

  /** What waits for an answer, until it has one or is seen in the chat; each is told of once. */
  #notify(questions: Iterable<Question> = this.#asked.keys()): void {
    const appeared = new Promise((resolve) => {
      const subscription = this.#appeared.event(() => {
        subscription.dispose();
        resolve(undefined);
      });
    });
    for (const question of [...questions].filter((it) => !this.#notified.has(it))) {
      this.#notified.add(question);
      const title = `${notificationText(question)} ${notificationLinks(question)}`;
      const options = { location: ProgressLocation.Notification, title };
      const over = Promise.race([this.#asked.get(question), appeared]).finally(() => this.#notified.delete(question));
      inBackground(window.withProgress(options, () => over));
    }
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
    const changed = this.chat.store.shown.changedFrom(turnId);
    const undone = changed.length > 0 ? await chooseUndone(changed) : [];
    const draft = undone && (await this.chat.turns.forkAt(turnId, undone));
    if (draft) this.#post({ type: "draft", ...draft });
  }

  /** A block of code becomes a turn that proposes it, for the file that it names or that is open. */
  async #apply(code: string, info: string): Promise<void> {
    const target = await targetOf(fileIn(info));
    if (target) await this.chat.turns.say("edit_mode", applyWords(code, info, target.name), target.context);
    else
      inBackground(window.showInformationMessage(t("Odin: Open the file that the code is for, then apply it again.")));
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
    if ((this.#view.description ?? "") !== title) this.#view.description = title;
    const badge = badgeOf(this.chat.store);
    if (badge?.value !== this.#view.badge?.value) this.#view.badge = badge;
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
    if (this.#view?.visible) this.#post({ type: "looked", looked: lookedAt() });
  }

  #post(message: ToPage): void {
    inBackground(this.#view?.webview.postMessage(message));
  }

  async #run(command: string, ...given: unknown[]): Promise<void> {
    await commands.executeCommand(command, ...given);
  }
}
