// Texts that are only to be read, in an editor of their own.

import {
  EventEmitter,
  languages,
  type TextDocument,
  type TextDocumentContentProvider,
  Uri,
  ViewColumn,
  window,
  workspace,
} from "vscode";

const SCHEME = "odin-text";

/** Whether it is the one that is shown under this name. */
export function isNamed({ uri }: Pick<TextDocument, "uri">, name: string): boolean {
  return uri.scheme === SCHEME && uri.path === `/${name}`;
}

export class ReadOnlyDocuments implements TextDocumentContentProvider {
  readonly #texts = new Map<string, string>();
  readonly #changed = new EventEmitter<Uri>();
  readonly onDidChange = this.#changed.event;
  readonly #registration = workspace.registerTextDocumentContentProvider(SCHEME, this);

  provideTextDocumentContent(uri: Uri): string {
    return this.#texts.get(uri.path) ?? "";
  }

  /** Show a text under a name; one that was shown under it before is replaced. */
  async show(name: string, text: string, language: string): Promise<void> {
    const uri = Uri.from({ scheme: SCHEME, path: `/${name}` });
    this.#texts.set(uri.path, text);
    this.#changed.fire(uri);
    const document = await workspace.openTextDocument(uri);
    await languages.setTextDocumentLanguage(document, language);
    await window.showTextDocument(document, { preview: true, viewColumn: ViewColumn.Active });
  }

  dispose(): void {
    this.#registration.dispose();
    this.#changed.dispose();
  }
}
