// Tabs of reviews that ended with the window before this one: closed, with what was typed into them offered.

import { type Uri, window, workspace } from "vscode";
import { counted } from "../words";
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

  async close(): Promise<void> {
    const tabs = reviewTabs();
    if (tabs.length === 0) {
      return;
    }
    const words: string[] = [];
    const documents = tabs.flatMap((tab) => urisOf(tab).filter((uri) => uri.scheme === SCHEME));
    for (const uri of documents) {
      this.#documents.add(uri.toString());
    }
    for (const uri of documents) {
      // Only opening it brings back what was unsaved in it.
      const document = await workspace.openTextDocument(uri);
      if (document.isDirty) {
        words.push(document.getText());
      }
    }
    await close(reviewTabs, documents);
    const why = `Odin's review ended with the window. Nothing of it was applied; ${counted(tabs.length, "tab")} closed.`;
    await (words.length > 0 ? offerWords(why, words) : window.showInformationMessage(why));
  }
}
