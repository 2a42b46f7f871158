// Whether an answer about code is complete. VS Code does not say so: this is the one place where it is decided.
//
// - The outline and the format of a document need nothing but its text: always complete.
// - TypeScript and JavaScript: VS Code's own service has answered a question that waits until the project is loaded.
// - Of other servers nothing tells. One that has just met its language may still be loading: answers in the first ten
//   seconds after the language's first document are not taken as complete, later ones are.
// - A list of workspace symbols that is as long as TypeScript's may be was cut.

import type { TextDocument } from "vscode";

const WARM_UP_MS = 10_000;
const MOST_SYMBOLS = 256;
const OF_ONE_TEXT = new Set(["textDocument/documentSymbol", "textDocument/formatting"]);

export class Readiness {
  /** When the first document of each language was opened. */
  readonly #since = new Map<string, number>();

  /** Settles with whether TypeScript's service has the project of a document; `undefined`: it does not serve it. */
  constructor(private readonly hasProject: (document: TextDocument) => Promise<boolean | undefined>) {}

  opened({ languageId }: TextDocument): void {
    if (!this.#since.has(languageId)) {
      this.#since.set(languageId, Date.now());
    }
  }

  /** Whether a server may still be about to load what it needs for documents of this language. */
  isWarmingUp({ languageId }: TextDocument): boolean {
    return Date.now() - (this.#since.get(languageId) ?? Date.now()) < WARM_UP_MS;
  }

  /** Before a question is asked. It may take a while. */
  async of(document: TextDocument, method: string): Promise<boolean> {
    return OF_ONE_TEXT.has(method) || ((await this.hasProject(document)) ?? !this.isWarmingUp(document));
  }

  static wasCut(method: string, result: unknown): boolean {
    return method === "workspace/symbol" && Array.isArray(result) && result.length >= MOST_SYMBOLS;
  }
}
