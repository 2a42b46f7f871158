// What the user does in the chat's page, done.

import { commands, type Disposable, env, Uri, window } from "vscode";
import { inBackground } from "../background";
import { t } from "../l10n";
import type { Odin } from "../odin";
import { tellUser } from "../telling";
import { applyWords, fileIn } from "./applying";
import { chooseAttachments } from "./attaching";
import type { Chat } from "./chat";
import { leadsToWeb } from "./links";
import { Mentions } from "./mentions";
import {
  type Attachment,
  type Completion,
  type FromPage,
  type LocalModel,
  OWN_COMMANDS,
  type Sign,
  type ToPage,
} from "./messages";
import { chooseUndone, insert, intoTerminal } from "./outside";
import { ownCommand, slashCompletions } from "./slash";
import { existing, itemsOf, openPlace, targetOf } from "./surroundings";

const REVIEW_COMMANDS = {
  open: "odin.vscode.review",
  accept: "odin.vscode.acceptAll",
  reject: "odin.vscode.rejectAll",
  drop: "odin.vscode.rejectAll",
};

interface Page {
  post(message: ToPage): void;
  /** Have these go with the next message, and the focus where it is written. */
  attach(attachments: readonly Attachment[]): Promise<void>;
}

export class Requests implements Disposable {
  #mentions: Mentions | undefined;
  /** What the page may offer. */
  #local: readonly LocalModel[] = [];

  constructor(
    private readonly odin: Odin,
    private readonly chat: Chat,
    private readonly page: Page,
  ) {}

  dispose(): void {
    this.#mentions?.dispose();
  }

  async take(message: FromPage): Promise<void> {
    const { chat } = this;
    switch (message.type) {
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
        this.page.post({
          type: "completions",
          request: message.request,
          completions: await this.#completions(message),
        });
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
    this.page.post({ type: "pictures", pictures });
    await this.page.attach(attachments);
  }

  /** What leads out of the chat. */
  async #takeOutside(message: FromPage): Promise<void> {
    switch (message.type) {
      case "attach":
        return this.#attach();
      case "findLocal": {
        this.#local = await this.chat.localModels();
        return this.page.post({ type: "local", models: [...this.#local] });
      }
      case "useModel":
        if (this.#local.some((it) => it.model === message.model)) await this.chat.selectModel(message.model);
        return;
      case "picture": {
        const { digest, mediaType } = message;
        const data = await this.chat.turns.attachment(digest);
        return data === undefined
          ? undefined
          : this.page.post({ type: "picture", digest, url: `data:${mediaType};base64,${data}` });
      }
      case "find":
        return this.page.post({ type: "found", paths: await existing(message.paths) });
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

  async #fork(turnId: string): Promise<void> {
    const changed = this.chat.store.shown.changedFrom(turnId);
    const undone = changed.length > 0 ? await chooseUndone(changed) : [];
    const draft = undone && (await this.chat.turns.forkAt(turnId, undone));
    if (draft) this.page.post({ type: "draft", ...draft });
  }

  /** A block of code becomes a turn that proposes it, for the file that it names or that is open. */
  async #apply(code: string, info: string): Promise<void> {
    const target = await targetOf(fileIn(info));
    if (target) await this.chat.turns.say("edit_mode", applyWords(code, info, target.name), target.context);
    else inBackground(tellUser("info", t("Odin: Open the file that the code is for, then apply it again.")));
  }

  async #run(command: string, ...given: unknown[]): Promise<void> {
    await commands.executeCommand(command, ...given);
  }
}
