// `odin/save` and `odin/reload`: documents that the server wants on disk, or read from it again.

import { type Disposable, type TextDocument, Uri, workspace } from "vscode";

interface Refusal {
  uri: string;
  reason: string;
}

/** In which VS Code notices by itself that a file has changed. */
const NOTICE_MS = 3000;

/** Save these documents and no others, as the user would: with formatters and code actions on save. */
export async function save(params: { uris: string[] }): Promise<{ saved: string[]; failed: Refusal[] }> {
  const saved: string[] = [];
  const failed: Refusal[] = [];
  for (const uri of params.uris) {
    const reason = await saveOne(documentOf(uri));
    if (reason) {
      failed.push({ uri, reason });
    } else {
      saved.push(uri);
    }
  }
  return { saved, failed };
}

/** VS Code reads a file again by itself where its document has no unsaved changes; no API makes it. */
export async function reload(params: { uris: string[] }): Promise<{ reloaded: string[]; kept: Refusal[] }> {
  const answers = await Promise.all(params.uris.map(async (uri) => ({ uri, reason: await keptBecause(uri) })));
  return {
    reloaded: answers.filter((it) => !it.reason).map((it) => it.uri),
    kept: answers.flatMap(({ uri, reason }) => (reason ? [{ uri, reason }] : [])),
  };
}

async function saveOne(document: TextDocument | undefined): Promise<string | undefined> {
  if (!document) {
    return "it is not open";
  }
  const isSaved = !document.isDirty || (await document.save());
  // There was nothing left to save if VS Code has done it by itself meanwhile.
  return isSaved || !document.isDirty
    ? undefined
    : "VS Code has not saved it: the file may be read-only, or have changed on disk since it was opened";
}

async function keptBecause(uri: string): Promise<string | undefined> {
  const document = documentOf(uri);
  if (!document) {
    return "it is not open";
  }
  if (document.isDirty) {
    return "it has unsaved changes";
  }
  return (await isAsOnDisk(document)) || (await changes(document)) ? undefined : "VS Code has not read it again yet";
}

async function isAsOnDisk(document: TextDocument): Promise<boolean> {
  try {
    const text = await workspace.decode(await workspace.fs.readFile(document.uri), { encoding: document.encoding });
    return withoutReturns(text) === withoutReturns(document.getText());
  } catch {
    return false; // it is gone, or no text any more
  }
}

function withoutReturns(text: string): string {
  return text.replaceAll("\r\n", "\n").replaceAll("\r", "\n");
}

function changes(document: TextDocument): Promise<boolean> {
  return new Promise((resolve) => {
    let subscription: Disposable | undefined;
    const settle = (changed: boolean): void => {
      clearTimeout(patience);
      subscription?.dispose();
      resolve(changed);
    };
    const patience = setTimeout(() => settle(false), NOTICE_MS);
    subscription = workspace.onDidChangeTextDocument((event) => {
      if (event.document === document && !document.isDirty) {
        settle(true);
      }
    });
  });
}

function documentOf(uri: string): TextDocument | undefined {
  const wanted = Uri.parse(uri).toString();
  return workspace.textDocuments.find((it) => it.uri.toString() === wanted);
}
