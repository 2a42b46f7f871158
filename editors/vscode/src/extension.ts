// Put the parts together. What takes time is imported when it is first used.

import { commands, type ExtensionContext, type TextDocument, window, workspace } from "vscode";
import * as files from "./files";
import { Keys } from "./secrets";
import { ServerHost } from "./server/host";
import { ServerLife } from "./server/life";
import { middlewareFor } from "./server/middleware";
import { RedactedLog } from "./server/redaction";
import { Typing } from "./typing";

let life: ServerLife | undefined;

export function activate(context: ExtensionContext): void {
  const keys = new Keys(context.secrets);
  const log = new RedactedLog(window.createOutputChannel("Odin", { log: true }), () => keys.known);
  const typing = new Typing({
    onDidChangeTextDocument: workspace.onDidChangeTextDocument,
    activeEditor: () => window.activeTextEditor,
    now: Date.now,
  });
  const middleware = middlewareFor({
    odin: () => odin,
    turns: () => {
      throw new Error("no chat yet");
    },
    showChat: () => {},
    isTyping: () => typing.isGoingOn,
  });
  const answers = {
    review: async () => null,
    question: async () => null,
    save: files.save,
    reload: files.reload,
  };
  const host = new ServerHost(context, log, keys, answers, middleware);
  const odin = new ServerLife((onEvent) => host.launch(onEvent), {
    now: () => Date.now() / 1000,
    wait: (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000)),
  });
  life = odin;

  const wakeFor = (document: TextDocument | undefined): void => {
    if (document?.uri.scheme === "file") {
      odin.wake();
    }
  };
  context.subscriptions.push(
    log,
    typing,
    window.onDidChangeActiveTextEditor((editor) => wakeFor(editor?.document)),
    commands.registerCommand("odin.vscode.restart", () => odin.restart()),
    commands.registerCommand("odin.vscode.showLog", () => log.show()),
  );
  wakeFor(window.activeTextEditor?.document);
}

export function deactivate(): Promise<void> | undefined {
  return life?.stop();
}
