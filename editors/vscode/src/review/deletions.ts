// Files that are deleted while something is proposed for them.

import { type Disposable, RelativePattern, Uri, workspace } from "vscode";
import { sameUri } from "./addresses";

/** Tell when a file is gone. One that is only exchanged for another, as many programs save, is not. */
export function onDeletion(uri: Uri, tell: () => void): Disposable {
  const pattern = new RelativePattern(Uri.joinPath(uri, ".."), "*");
  const watcher = workspace.createFileSystemWatcher(pattern, true, true, false);
  watcher.onDidDelete(async (deleted) => {
    if (sameUri(deleted, uri) && (await isGone(uri))) {
      tell();
    }
  });
  return watcher;
}

function isGone(uri: Uri): Promise<boolean> {
  return Promise.resolve(
    workspace.fs.stat(uri).then(
      () => false,
      () => true,
    ),
  );
}
