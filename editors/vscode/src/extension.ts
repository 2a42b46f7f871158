// Put the parts together. What takes time is imported when it is first used.

import { commands, type ExtensionContext, StatusBarAlignment, ThemeColor, window, workspace } from "vscode";
import { Conversation } from "./chat/conversation";
import { ChatView } from "./chat/view";
import { registerCommands } from "./commands";
import { ReadOnlyDocuments } from "./documents";
import * as files from "./files";
import { EditorServers } from "./intelligence/servers";
import type { ServerState } from "./odin";
import { isPlan } from "./plans";
import { Problems } from "./problems";
import { ReviewDesk } from "./review/desk";
import type { Position } from "./review/walk";
import { Keys } from "./secrets";
import { INSTALL, ServerHost } from "./server/host";
import { ServerLife } from "./server/life";
import { middlewareFor } from "./server/middleware";
import { RedactedLog } from "./server/redaction";
import { Renewal } from "./server/renewal";
import { Servicing } from "./server/servicing";
import { RESTARTING_SETTINGS, serverSettings } from "./settings";
import { StatusFollower, show, shownFor } from "./status";
import { Typing } from "./typing";

const OFFERED = "odin.offered";
let life: ServerLife | undefined;

export function activate(context: ExtensionContext): void {
  const keys = new Keys(context.secrets);
  const log = new RedactedLog(window.createOutputChannel("Odin", { log: true }), () => keys.known);
  const documents = new ReadOnlyDocuments();
  const typing = new Typing({
    onDidChangeTextEditorSelection: window.onDidChangeTextEditorSelection,
    now: Date.now,
  });
  const problems = new Problems({
    error: (text, ...titles) => window.showErrorMessage(text, ...titles),
    run: (command) => commands.executeCommand(command),
  });
  const servers = new EditorServers();
  const middleware = middlewareFor({
    odin: () => odin,
    turns: () => chat,
    showChat,
    openTurn: (turn) => view.showTurn(turn),
  });
  const host = new ServerHost(
    context,
    log,
    keys,
    {
      review: (review, token) => desk.answer(review, token),
      question: (question, token) => view.answer(question, token),
      save: files.save,
      reload: files.reload,
      editorRequest: (params) => servers.request(params),
      editorDiagnostics: (params) => servers.diagnostics(params),
    },
    middleware,
  );
  const odin = new ServerLife((onEvent) => host.launch(onEvent), {
    now: () => Date.now() / 1000,
    wait: (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000)),
  });
  life = odin;
  const desk = new ReviewDesk(odin, { isTyping: () => typing.isGoingOn, holdFocus: () => view.holdFocus() });
  const chat = new Conversation(odin, context.workspaceState);
  const view = new ChatView(context.extensionUri, odin, chat, () => odin.wake());
  function showChat(): void {
    void view.reveal(true);
  }
  const renewal = new Renewal({ life: odin, isBusy: () => status.standing.running !== undefined, mayInterrupt });
  const servicing = new Servicing(context, host, odin, log, keys, documents, renewal);
  const item = window.createStatusBarItem("odin", StatusBarAlignment.Right, 100);
  item.name = "Odin";
  item.command = "odin.vscode.showActions";
  const status = new StatusFollower(odin, workspace.isTrusted, (standing) => {
    show(item, shownFor(standing), (kind) => new ThemeColor(`statusBarItem.${kind}Background`));
    setContext("odin.busy", standing.running !== undefined);
    setContext("odin.ready", standing.server.kind === "ready");
  });

  const place = (position: Position | undefined): void => {
    status.place(position?.words);
    if (position) {
      chat.place(position.proposalId, position.words);
    }
  };
  /** The offer to install is made once; after that, only to whoever wants something of Odin. */
  const follow = (state: ServerState): void => {
    if (state.kind === "failed") {
      const isMissing = state.actions.some((it) => it.command === INSTALL.command);
      if (!isMissing || !context.globalState.get<boolean>(OFFERED)) {
        void problems.tell(state.why, state.actions);
      }
      if (isMissing) {
        void context.globalState.update(OFFERED, true);
      }
    } else if (state.kind === "ready") {
      void servicing.tendOwn();
    }
  };
  const look = (): void => {
    const document = window.activeTextEditor?.document;
    setContext("odin.isPlan", document !== undefined && isPlan(document));
    if (document?.uri.scheme === "file") {
      odin.wake();
    }
  };

  context.subscriptions.push(
    log,
    documents,
    typing,
    servers,
    desk,
    chat,
    view,
    host,
    servicing,
    renewal,
    status,
    item,
    odin.onDidChangeState(follow),
    desk.onDidMove(place),
    host.onDidFindAnother(() => void renewal.because("The selected Python environment")),
    window.onDidChangeActiveTextEditor(look),
    workspace.onDidChangeConfiguration((event) => {
      if (RESTARTING_SETTINGS.some((name) => event.affectsConfiguration(name))) {
        void renewal.because("The setting");
      } else if (event.affectsConfiguration("odin")) {
        odin.configure(serverSettings(workspace.getConfiguration("odin")));
      }
    }),
    context.secrets.onDidChange(({ key }) => {
      if (keys.isOurs(key)) {
        void renewal.because("The API key");
      }
    }),
    workspace.onDidGrantWorkspaceTrust(() => {
      status.trust();
      void renewal.because("The trust in this workspace");
    }),
    ...registerCommands({ odin, chat, servicing, keys, documents, problems, showChat, showLog: () => log.show() }),
  );
  show(item, shownFor(status.standing), () => undefined);
  look();
}

export function deactivate(): Promise<void> | undefined {
  return life?.stop();
}

function setContext(name: string, value: boolean): void {
  void commands.executeCommand("setContext", name, value);
}

async function mayInterrupt(what: string): Promise<boolean> {
  const now = "Restart Now";
  const question = `Odin: ${what} counts after a restart, which would end the turn that is running.`;
  return (await window.showWarningMessage(question, now, "After the Turn")) === now;
}
