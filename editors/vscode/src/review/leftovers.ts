// Tabs of reviews that the server no longer knows of: closed, with what was typed into them offered.

import { type Uri, workspace } from "vscode";
import { t } from "../l10n";
import { SCHEME } from "./addresses";
import type { Text } from "./files";
import { offerWords } from "./pen";
import { close, reviewTabs, urisOf } from "./tabs";

export class Leftovers {
  readonly #documents = new Set<string>();

  /** Nobody knows what was proposed; that they exist lets their documents be saved, and so closed. */
  textOf(uri: Uri): Text | undefined {
    return this.#documents.has(uri.toString()) ? { text: "", isEditable: true } : undefined;
  }

  async close(isKnown: (uri: Uri) => boolean): Promise<void> {
    const left = () => reviewTabs().filter((tab) => !urisOf(tab).some((uri) => uri.scheme === SCHEME && isKnown(uri)));
    const documents = left().flatMap((tab) => urisOf(tab).filter((uri) => uri.scheme === SCHEME));
    for (const uri of documents) {
      this.#documents.add(uri.toString());
    }
    const words: string[] = [];
    for (const uri of documents) {
      // Only opening it brings back what was unsaved in it.
      const document = await workspace.openTextDocument(uri);
      if (document.isDirty) {
        words.push(document.getText());
      }
    }
    await close(left, documents);
    await offerWords(t("A review ended with the last window. What you wrote in it was not used."), words);
  }
}
