// Put the parts together. What takes time is imported when it is first used.

import { commands, type ExtensionContext, env, l10n, StatusBarAlignment, ThemeColor, window, workspace } from "vscode";
import { inBackground, tellFailures } from "./background";
import { Chat } from "./chat/chat";
import { ChatView } from "./chat/view";
import { registerCommands } from "./commands";
import { reportName } from "./context-report";
import { isNamed, ReadOnlyDocuments } from "./documents";
import * as files from "./files";
import { InlineEdits } from "./inline/threads";
import { EditorServers } from "./intelligence/servers";
import { speak, t } from "./l10n";
import { completeModels } from "./model-names";
import type { ServerState } from "./odin";
import { isPlan } from "./plans";
import { Problems } from "./problems";
import { ReviewDesk } from "./review/desk";
import { Keys } from "./secrets";
import { ServerHost } from "./server/host";
import { isUnset, ServerLife } from "./server/life";
import { middlewareFor } from "./server/middleware";
import { RedactedLog } from "./server/redaction";
import { Renewal } from "./server/renewal";
import { Servicing } from "./server/servicing";
import { standingOf } from "./session/selectors";
import { Store } from "./session/store";
import { SessionTree } from "./session-tree";
import { RESTARTING_SETTINGS, serverSettings } from "./settings";
import { show, shownFor } from "./status";
import { tellUser } from "./telling";
import { Typing } from "./typing";

let life: ServerLife | undefined;

export function activate(context: ExtensionContext): void {
  speak(l10n.bundle, env.language);
  const keys = new Keys(context.secrets);
  const log = new RedactedLog(window.createOutputChannel("Odin", { log: true }), () => keys.known);
  tellFailures((error) => log.error(error instanceof Error ? (error.stack ?? error.message) : String(error)));
  const documents = new ReadOnlyDocuments();
  const typing = new Typing({
    onDidChangeTextEditorSelection: window.onDidChangeTextEditorSelection,
    now: Date.now,
  });
  const problems = new Problems({
    error: (text, ...titles) => tellUser("error", text, ...titles),
    run: (command) => commands.executeCommand(command),
  });
  const servers = new EditorServers();
  const middleware = middlewareFor({
    odin: () => odin,
    turns: () => chat.turns,
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
  const store = new Store();
  store.set({ isTrusted: workspace.isTrusted });
  const chat = new Chat(odin, store, context.workspaceState);
  const desk = new ReviewDesk(odin, store.reviews, {
    isTyping: () => typing.isGoingOn,
    holdFocus: () => view.holdFocus(),
    sees: (review) => inline.shows(review),
  });
  const inline = new InlineEdits(odin, store.reviews, {
    begin: (turnId, text, context) => chat.turns.say("edit_mode", text, context, [], turnId),
    cancel: (turnId) => chat.turns.cancelOne(turnId),
    accept: (proposalId) => desk.accept(proposalId),
    reject: (proposalId, reason) => desk.reject(proposalId, reason),
  });
  const view = new ChatView(context.extensionUri, odin, chat, () => odin.wake());
  function showChat(): void {
    inBackground(view.reveal(true));
  }
  const sessionTree = new SessionTree(odin, chat);
  const renewal = new Renewal({ life: odin, isBusy: () => standingOf(store).running !== undefined, mayInterrupt });
  const servicing = new Servicing(context, host, odin, log, documents, renewal);
  const item = window.createStatusBarItem("odin", StatusBarAlignment.Right, 100);
  item.name = "Odin";
  item.command = "odin.vscode.showActions";
  const contexts = new Contexts();
  const tell = (): void => {
    const standing = standingOf(store);
    show(item, shownFor(standing), (kind) => new ThemeColor(`statusBarItem.${kind}Background`));
    contexts.set("odin.busy", standing.running !== undefined);
    contexts.set("odin.ready", standing.server.kind === "ready");
  };

  /** That the server is not installed is no alarm: the chat says how to begin. */
  const follow = (state: ServerState): void => {
    if (state.kind === "failed" && !isUnset(state)) {
      inBackground(problems.tell(state.why, state.actions));
    } else if (state.kind === "ready") {
      inBackground(servicing.tendOwn());
    }
  };
  const look = (): void => {
    const document = window.activeTextEditor?.document;
    contexts.set("odin.isPlan", document !== undefined && isPlan(document));
    contexts.set("odin.isContextReport", document !== undefined && isNamed(document, reportName()));
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
    inline,
    chat,
    view,
    sessionTree,
    host,
    servicing,
    renewal,
    item,
    store.onDidChange(tell),
    odin.onDidChangeState(follow),
    desk.onDidMove((position) => store.place(position)),
    host.onDidFindAnother(() => inBackground(renewal.because(t("the selected Python environment")))),
    window.onDidChangeActiveTextEditor(look),
    workspace.onDidChangeConfiguration((event) => {
      if (RESTARTING_SETTINGS.some((name) => event.affectsConfiguration(name))) {
        inBackground(renewal.because(t("the changed settings")));
      } else if (event.affectsConfiguration("odin")) {
        odin.configure(serverSettings(workspace.getConfiguration("odin")));
      }
    }),
    context.secrets.onDidChange(({ key }) => {
      if (keys.isOurs(key)) {
        inBackground(renewal.because(t("the new API key")));
      }
    }),
    workspace.onDidGrantWorkspaceTrust(() => {
      store.set({ isTrusted: true });
      inBackground(renewal.because(t("the trusted workspace")));
    }),
    completeModels(odin, context.extension.packageJSON),
    ...registerCommands({
      odin,
      chat,
      servicing,
      keys,
      documents,
      problems,
      sessionTree,
      showChat,
      attach: (attachments) => view.attach(attachments),
      showLog: () => log.show(),
    }),
  );
  tell();
  look();
}

export function deactivate(): Promise<void> | undefined {
  return life?.stop();
}

/** What `when` clauses ask for, told when it changes. */
class Contexts {
  readonly #told = new Map<string, boolean>();

  set(name: string, value: boolean): void {
    if (this.#told.get(name) !== value) {
      this.#told.set(name, value);
      inBackground(commands.executeCommand("setContext", name, value));
    }
  }
}

async function mayInterrupt(what: string): Promise<boolean> {
  const now = t("Restart Now");
  const question = t("Odin must restart to use {0}. Restarting cancels the running turn.", what);
  return (await tellUser("warning", question, now, t("Restart After Turn"))) === now;
}
