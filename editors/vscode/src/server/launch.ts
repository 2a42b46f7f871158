// One server from its start to its end: the process, the language client on it, and who answers what it asks.

import { type CancellationToken, env, type LogOutputChannel, l10n, languages } from "vscode";
import {
  type ClientCapabilities,
  CloseAction,
  CodeActionRequest,
  ErrorAction,
  ErrorCodes,
  LanguageClient,
  type LanguageClientOptions,
  type Middleware,
  ResponseError,
  RevealOutputChannelOn,
  type ServerCapabilities,
  type StaticFeature,
} from "vscode-languageclient/node";
import { inBackground } from "../background";
import { speak, t } from "../l10n";
import type { AnswerQuestion, AnswerReview } from "../odin";
import type {
  EditorAnswers,
  EditorDiagnostics,
  EditorDiagnosticsParams,
  EditorRequest,
  EventRecord,
  InitOptions,
  Question,
  Review,
  ServerInfo,
} from "../protocol";
import { wordsOf } from "../words";
import { type Running, ServerProblem } from "./life";
import { ServerProcess } from "./process";
import { SelectionWatch } from "./selection";

const PROTOCOL_VERSION = 1;
const INITIALIZE_SECONDS = 60;
const STOP_MS = 2000;
/** Commands that links in the server's hovers may run. */
const LINKED = ["odin.provenance.open", "odin.undoTurn"];
const CUT_OFF: readonly number[] = [ErrorCodes.PendingResponseRejected, ErrorCodes.ConnectionInactive];

/** What the extension does when the server asks. */
export interface Answers {
  review: AnswerReview;
  question: AnswerQuestion;
  save(params: { uris: string[] }): Promise<object>;
  reload(params: { uris: string[] }): Promise<object>;
  editorRequest(params: EditorRequest): Promise<EditorAnswers>;
  editorDiagnostics(params: EditorDiagnosticsParams): Promise<EditorDiagnostics>;
}

export interface LaunchOptions {
  command: string;
  parameters: readonly string[];
  folder: string | undefined;
  init: InitOptions;
  /** Whether proposals are reviewed in diffs of ours; otherwise in VS Code's Refactor Preview. */
  reviews: boolean;
  log: LogOutputChannel;
  clean(text: string): string;
  answers: Answers;
  middleware: Middleware;
  onEvent(record: EventRecord): void;
}

export async function launch(options: LaunchOptions): Promise<Running> {
  speak(l10n.bundle, env.language); // this bundle has texts of its own
  const process = await ServerProcess.start(options.command, options.parameters, options.folder, options.clean);
  const client = new Client(process, options);
  try {
    await Promise.race([client.start(), endOf(process), tooSlow(options.command)]);
    const info = odinOf(client, options.command);
    return {
      info,
      ended: process.ended,
      execute: (command, argument) => execute(client, process, command, argument),
      configure: (settings) => {
        client.sendNotification("workspace/didChangeConfiguration", { settings: { odin: settings } }).catch(() => {});
      },
      stop: () => stop(client, process),
    };
  } catch (error) {
    const ended = error instanceof ServerProblem ? undefined : await process.endedSoon();
    process.kill();
    throw error instanceof ServerProblem
      ? error
      : new ServerProblem(ended ?? t("Odin's server did not start: {0}", wordsOf(error)));
  }
}

class Client extends LanguageClient {
  constructor(process: ServerProcess, options: LaunchOptions) {
    super("odin", "Odin", async () => process.child, clientOptions(process, options));
    this.registerFeature(new OdinFeature(this, options.reviews));
    refuseRubbish(process, options.command);
    const selection = new SelectionWatch(({ document, selection }) => {
      const range = this.code2ProtocolConverter.asRange(selection);
      this.sendNotification("odin/selection", { uri: document.uri.toString(), range }).catch(() => {});
    });
    inBackground(process.ended.then(() => selection.dispose()));
    this.onNotification("odin/watchSelection", ({ enabled }: { enabled: boolean }) => selection.watch(enabled));
    const { answers } = options;
    let seen: number | undefined;
    this.onNotification("odin/event", (record: EventRecord) => {
      if (seen !== undefined && record.seq !== seen + 1) {
        options.log.warn(`Events ${seen + 1} to ${record.seq - 1} have not arrived.`);
      }
      seen = record.seq;
      options.onEvent(record);
    });
    this.onRequest("odin/review", (review: Review, token: CancellationToken) => answers.review(review, token));
    this.onRequest("odin/question", (asked: Question, token: CancellationToken) => answers.question(asked, token));
    this.onRequest("odin/save", (params: { uris: string[] }) => answers.save(params));
    this.onRequest("odin/reload", (params: { uris: string[] }) => answers.reload(params));
    this.onRequest("odin/editor/request", (params: EditorRequest) => answers.editorRequest(params));
    this.onRequest("odin/editor/diagnostics", (params: EditorDiagnosticsParams) => answers.editorDiagnostics(params));
  }

  /** What goes wrong is told once, by whoever owns the server, and not by the library besides. */
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }
}

/** Says what this client can do, and brings the code actions, which have to come after those of others. */
class OdinFeature implements StaticFeature {
  #hasCodeActions = false;
  #provider: { dispose(): void } | undefined;

  constructor(
    private readonly client: LanguageClient,
    private readonly reviews: boolean,
  ) {}

  fillClientCapabilities(capabilities: ClientCapabilities): void {
    const told = { events: true, question: true, save: true, reload: true, links: true, selection: true };
    const odin = { version: PROTOCOL_VERSION, ...told, review: this.reviews, editor: ["request", "diagnostics"] };
    capabilities.experimental = { odin };
    capabilities.window = { ...capabilities.window, workDoneProgress: false }; // the status bar shows it
  }

  preInitialize(capabilities: ServerCapabilities): void {
    this.#hasCodeActions = Boolean(capabilities.codeActionProvider);
    delete capabilities.codeActionProvider;
  }

  /** VS Code asks providers whose selector says less after the others; the library's would say as much as any. */
  initialize(): void {
    if (!this.#hasCodeActions) {
      return;
    }
    const { client } = this;
    this.#provider = languages.registerCodeActionsProvider(
      { language: "*" },
      {
        async provideCodeActions(document, range, context, token) {
          if (document.uri.scheme !== "file") {
            return [];
          }
          const params = {
            textDocument: client.code2ProtocolConverter.asTextDocumentIdentifier(document),
            range: client.code2ProtocolConverter.asRange(range),
            context: client.code2ProtocolConverter.asCodeActionContextSync(context),
          };
          const found = await client.sendRequest(CodeActionRequest.type, params, token).catch(() => null);
          return found ? client.protocol2CodeConverter.asCodeActionResult(found, token) : [];
        },
      },
    );
  }

  getState(): { kind: "static" } {
    return { kind: "static" };
  }

  clear(): void {
    this.#provider?.dispose();
    this.#provider = undefined;
  }
}

function clientOptions(process: ServerProcess, options: LaunchOptions): LanguageClientOptions {
  return {
    documentSelector: [{ scheme: "file" }],
    outputChannel: options.log,
    revealOutputChannelOn: RevealOutputChannelOn.Never,
    initializationOptions: options.init,
    middleware: options.middleware,
    markdown: { isTrusted: { enabledCommands: LINKED } },
    initializationFailedHandler: () => false,
    errorHandler: {
      error(error) {
        process.kill(t("Could not read the output of {0} ({1}).", options.command, error.message));
        return { action: ErrorAction.Continue, handled: true };
      },
      closed: () => ({ action: CloseAction.DoNotRestart, handled: true }),
    },
  };
}

/** Text that is no message would be waited for as the beginning of one. */
function refuseRubbish(process: ServerProcess, command: string): void {
  process.child.stdout.once("data", (chunk: Buffer) => {
    if (!chunk.toString("latin1").startsWith("Content-")) {
      const line = firstLine(chunk.toString("utf8"));
      process.kill(t("{0} is not a language server: its output starts with “{1}”.", command, line));
    }
  });
}

function firstLine(text: string): string {
  return (text.trim().split("\n")[0] ?? "").slice(0, 80);
}

async function endOf(process: ServerProcess): Promise<never> {
  throw new ServerProblem(await process.ended);
}

function tooSlow(command: string): Promise<never> {
  return new Promise((_, reject) => {
    const why = t("{0} has not answered for {1} s.", command, INITIALIZE_SECONDS);
    setTimeout(() => reject(new ServerProblem(why)), INITIALIZE_SECONDS * 1000).unref();
  });
}

function odinOf(client: LanguageClient, command: string): ServerInfo {
  const info: Partial<ServerInfo> | undefined = client.initializeResult?.capabilities.experimental?.odin;
  if (!info?.version) {
    throw new ServerProblem(t("{0} is a language server, but not Odin's.", command));
  }
  if (info.version !== PROTOCOL_VERSION) {
    throw new ServerProblem(
      t(
        "Odin's server {0} uses version {1} of the protocol, and this extension version {2}. Update the older of the two.",
        info.server ?? "",
        info.version,
        PROTOCOL_VERSION,
      ),
    );
  }
  return info as ServerInfo;
}

async function execute(
  client: LanguageClient,
  process: ServerProcess,
  command: string,
  argument: unknown,
): Promise<unknown> {
  try {
    return await client.sendRequest("workspace/executeCommand", { command, arguments: [argument] });
  } catch (error) {
    const isCutOff = error instanceof ResponseError && CUT_OFF.includes(error.code);
    throw new Error((isCutOff && (await process.endedSoon())) || wordsOf(error));
  }
}

async function stop(client: LanguageClient, process: ServerProcess): Promise<void> {
  const impatience = setTimeout(() => process.kill(), 2 * STOP_MS);
  await client.stop(STOP_MS).catch(() => process.kill());
  await process.ended;
  clearTimeout(impatience);
}
