// `odin/editor/*`: what other extensions of this window know about code, for Odin. What is complete is decided in
// `readiness.ts`, what is current in `settling.ts`.

import { type Diagnostic, type Disposable, languages, type TextDocument, Uri, workspace } from "vscode";
import type * as lsp from "vscode-languageclient/node";
import type {
  DocumentDiagnostics,
  EditorAnswers,
  EditorDiagnostics,
  EditorDiagnosticsParams,
  EditorRequest,
} from "../protocol";
import { allTabs, openDocument, urisOf } from "../review/tabs";
import * as from from "./lsp";
import { hasOutline, Questions } from "./questions";
import { Readiness } from "./readiness";
import { Settling } from "./settling";
import * as typescript from "./typescript";

const OWN_SOURCE = "Odin";
/** Of the time for an answer: what a project may take to load. Then the question is asked all the same. */
const LOADING_SHARE = 0.6;

export class EditorServers {
  readonly #questions = new Questions();
  readonly #readiness = new Readiness(typescript.hasProject);
  readonly #settling = new Settling(isInTab);
  readonly #subscriptions: Disposable[];

  constructor() {
    for (const document of workspace.textDocuments) {
      this.#opened(document);
    }
    this.#settling.told(known().map(([uri]) => uri.toString()));
    this.#subscriptions = [
      workspace.onDidOpenTextDocument((it) => this.#opened(it)),
      workspace.onDidCloseTextDocument((it) => this.#settling.closed(it.uri.toString())),
      workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (contentChanges.length > 0) {
          this.#settling.changed(document.uri.toString());
        }
      }),
      languages.onDidChangeDiagnostics(({ uris }) => this.#settling.told(uris.map((it) => it.toString()))),
    ];
  }

  /** All that serve a document are one to VS Code, and so they are here. */
  async request({ method, uri, params, timeoutMs }: EditorRequest): Promise<EditorAnswers> {
    if (!this.#questions.offers(method)) {
      return { answers: [] };
    }
    let server = "VS Code";
    const answer = async (): Promise<EditorAnswers> => {
      const document = await workspace.openTextDocument(Uri.parse(uri));
      server = `${document.languageId} in VS Code`;
      const loading = this.#readiness.of(document, method);
      const isReady = (await within(timeoutMs * LOADING_SHARE, loading)) ?? false;
      const result = await this.#questions.ask(method, document, params);
      if (isEmpty(result) && !(await hasOutline(document))) {
        return { answers: [] };
      }
      const ready = isReady && !Readiness.wasCut(method, result);
      return { answers: [{ server, ready, result: result ?? null }] };
    };
    return (await within(timeoutMs, answer())) ?? { answers: [], late: [server] };
  }

  async diagnostics({ uris, patienceMs }: EditorDiagnosticsParams): Promise<EditorDiagnostics> {
    if (uris.length > 0) {
      return { items: await Promise.all(uris.map((uri) => this.#diagnosticsOf(uri, patienceMs))) };
    }
    return {
      items: known().map(([uri, diagnostics]) => {
        const document = openDocument(uri);
        const current = document !== undefined && this.#settling.isSettled(uri.toString()) && this.#isWarm(document);
        return {
          uri: uri.toString(),
          version: document?.version,
          diagnostics: diagnostics.map(from.diagnostic),
          current,
        };
      }),
    };
  }

  dispose(): void {
    for (const it of this.#subscriptions) {
      it.dispose();
    }
  }

  #opened(document: TextDocument): void {
    this.#readiness.opened(document);
    this.#settling.opened(document.uri.toString(), document.languageId);
  }

  async #diagnosticsOf(uri: string, patienceMs: number): Promise<DocumentDiagnostics> {
    const document = await workspace.openTextDocument(Uri.parse(uri)).then(undefined, () => undefined);
    if (!document) {
      return { uri, diagnostics: [], current: false };
    }
    const { version } = document;
    const own = await within(patienceMs, typescript.diagnosticsOf(document));
    const others = (): Diagnostic[] => shown(document).filter((it) => it.source !== typescript.sourceOf(document));
    if (own && (!isInTab(document.uri.toString()) || others().length === 0)) {
      return { uri, version, diagnostics: own, current: true };
    }
    const isSettled = await this.#settling.settles(document.uri.toString(), patienceMs);
    return {
      uri,
      version,
      diagnostics: own ? [...own, ...others().map(from.diagnostic)] : shown(document).map(from.diagnostic),
      current: isSettled && this.#isWarm(document),
    };
  }

  /** Who may still be loading is not believed. */
  #isWarm(document: TextDocument): boolean {
    return !this.#readiness.isWarmingUp(document);
  }
}

function known(): [Uri, Diagnostic[]][] {
  return languages
    .getDiagnostics()
    .filter(([uri]) => uri.scheme === "file")
    .map(([uri, diagnostics]) => [uri, diagnostics.filter(isForeign)]);
}

function shown({ uri }: TextDocument): Diagnostic[] {
  return languages.getDiagnostics(uri).filter(isForeign);
}

function isForeign({ source }: Diagnostic): boolean {
  return source !== OWN_SOURCE;
}

function isInTab(uri: string): boolean {
  return allTabs().some((tab) => urisOf(tab).some((it) => it.toString() === uri));
}

function isEmpty(result: unknown): boolean {
  const list = (result as lsp.WorkspaceEdit | undefined)?.documentChanges ?? result ?? [];
  return Array.isArray(list) && list.length === 0;
}

/** `undefined`: it takes longer, perhaps for ever. */
function within<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
  return Promise.race([work, new Promise<undefined>((resolve) => setTimeout(resolve, ms))]);
}
