// Tabs of reviews that ended with the window before this one: closed, with what was typed into them offered.

import { type Uri, window, workspace } from "vscode";
import { counted } from "../words";
import { offerWords } from "./pen";
import { SCHEME } from "./proposed-texts";
import { close, reviewTabs, urisOf } from "./tabs";

/** `adopt` is told of each document before it is closed: saving it must work. */
export async function closeLeftovers(adopt: (uri: Uri) => void): Promise<void> {
  const tabs = reviewTabs();
  if (tabs.length === 0) {
    return;
  }
  const words: string[] = [];
  const documents = tabs.flatMap((tab) => urisOf(tab).filter((uri) => uri.scheme === SCHEME));
  documents.forEach(adopt);
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
