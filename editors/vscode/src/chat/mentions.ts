// What can be mentioned by `@` or attached: files, folders and symbols of the workspace, the selection and problems.

import { commands, type Disposable, type SymbolInformation, Uri, workspace } from "vscode";
import { t } from "../l10n";
import { best, foldersOf, mentioned, type Named } from "./matching";
import type { Attachment, Completion } from "./messages";
import { lookedAt } from "./surroundings";

const MAX_FILES = 20_000;
const MAX_SHOWN = 12;
const MAX_SYMBOLS = 5;

/** The names of the workspace's files are looked up once, and again when some come or go. */
export class Mentions implements Disposable {
  #named: Promise<Named<Uri>[]> | undefined;
  readonly #subscriptions = [
    workspace.onDidCreateFiles(() => this.#forget()),
    workspace.onDidDeleteFiles(() => this.#forget()),
    workspace.onDidRenameFiles(() => this.#forget()),
  ];

  /** What fits the word; a new mention begins with a new look at the files. */
  async complete(word: string, most = MAX_SHOWN): Promise<Completion[]> {
    if (word === "") this.#forget();
    const special = this.#special().filter((it) => it.word.startsWith(word.toLowerCase()));
    const [files, symbols] = await Promise.all([
      this.#matching(word, most),
      word.length > 1 ? this.#symbols(word) : [],
    ]);
    const room = most - special.length - symbols.length;
    return [...special, ...files.slice(0, room), ...symbols];
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
  }

  #special(): Completion[] {
    const looked = lookedAt();
    const found: Completion[] = [];
    if (looked?.kind === "selection") {
      found.push({ word: "selection", detail: looked.label, icon: "selection", attachment: looked });
    }
    const attachment: Attachment = { kind: "problems", label: t("problems") };
    found.push({ word: "problems", detail: t("errors and warnings in the workspace"), icon: "problems", attachment });
    return found;
  }

  async #matching(word: string, most: number): Promise<Completion[]> {
    this.#named ??= this.#names();
    return best(await this.#named, word, (it) => it.name.replace(/\/$/, ""), most).map(({ uri, name }) => {
      const kind = name.endsWith("/") ? "folder" : "file";
      return {
        word: mentioned(name),
        detail: "",
        icon: kind,
        attachment: { kind, uri: uri.toString(), label: name },
      };
    });
  }

  async #names(): Promise<Named<Uri>[]> {
    const uris = await workspace.findFiles("**/*", excluded(), MAX_FILES);
    const files = uris.map((uri) => ({ uri, name: workspace.asRelativePath(uri) }));
    return [...files, ...foldersOf(files, (it) => Uri.joinPath(it, ".."))];
  }

  async #symbols(word: string): Promise<Completion[]> {
    const found = await commands.executeCommand<SymbolInformation[] | undefined>(
      "vscode.executeWorkspaceSymbolProvider",
      word,
    );
    const here = (found ?? []).filter((it) => workspace.getWorkspaceFolder(it.location.uri));
    return best(here, word, (it) => it.name, MAX_SYMBOLS).map(({ name, location: { uri, range } }) => ({
      word: name.replaceAll(/\s+/g, ""),
      detail: workspace.asRelativePath(uri),
      icon: "symbol",
      attachment: {
        kind: "symbol",
        uri: uri.toString(),
        label: name,
        range: {
          start: { line: range.start.line, character: range.start.character },
          end: { line: range.end.line, character: range.end.character },
        },
      },
    }));
  }

  #forget(): void {
    this.#named = undefined;
  }
}

/** What VS Code's own search leaves out, too; without it dependencies would crowd out the files of the project. */
function excluded(): string | undefined {
  const settings = workspace.getConfiguration();
  const globs = ["files.exclude", "search.exclude"].flatMap((name) =>
    Object.entries(settings.get<Record<string, unknown>>(name) ?? {}).flatMap(([glob, isOn]) => (isOn ? [glob] : [])),
  );
  return globs.length > 0 ? `{${globs.join(",")}}` : undefined;
}
