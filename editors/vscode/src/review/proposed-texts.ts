// The documents on the right of a review's diffs: texts that only the review has, which can be edited and saved.

import {
  EventEmitter,
  type FileChangeEvent,
  FileChangeType,
  FilePermission,
  type FileStat,
  FileSystemError,
  type FileSystemProvider,
  FileType,
  type Uri,
  workspace,
} from "vscode";
import { SCHEME } from "./addresses";
import type { Text } from "./files";

/** While somebody types nothing is read again: each time costs as much as the text is long. */
const PAUSE_MS = 200;
/** Says that a text is UTF-8 where the settings say something else. */
const BOM = "\uFEFF";

export class ProposedTexts implements FileSystemProvider {
  readonly #changed = new EventEmitter<FileChangeEvent[]>();
  readonly onDidChangeFile = this.#changed.event;
  readonly #registration = workspace.registerFileSystemProvider(SCHEME, this, { isCaseSensitive: true });
  /** When a text was last changed here, and of which state the editor knows. */
  readonly #times = new Map<string, { changed: number; read: number }>();
  /** What will be read again. */
  readonly #reloading = new Map<string, NodeJS.Timeout>();

  constructor(
    private readonly textOf: (uri: Uri) => Promise<Text | undefined>,
    private readonly saved: (uri: Uri) => void,
  ) {}

  /** Have the editor read it again, when it has rested; it does so unless the document has unsaved changes. */
  reload(uri: Uri): void {
    const key = uri.toString();
    clearTimeout(this.#reloading.get(key));
    const reload = () => {
      this.#reloading.delete(key);
      this.#timesOf(uri).changed += 1;
      this.#changed.fire([{ type: FileChangeType.Changed, uri }]);
    };
    this.#reloading.set(key, setTimeout(reload, PAUSE_MS));
  }

  async stat(uri: Uri): Promise<FileStat> {
    const { text, isEditable } = await this.#found(uri);
    const { changed, read } = this.#timesOf(uri);
    // A document that was edited before it was read again is not in conflict with what it did not read.
    const isDirty = workspace.textDocuments.some((it) => it.isDirty && it.uri.toString() === uri.toString());
    return {
      type: FileType.File,
      ctime: 0,
      mtime: isDirty ? read : changed,
      size: encoded(text, uri).byteLength,
      permissions: isEditable ? undefined : FilePermission.Readonly,
    };
  }

  async readFile(uri: Uri): Promise<Uint8Array> {
    const { text } = await this.#found(uri);
    const times = this.#timesOf(uri);
    times.read = times.changed;
    return encoded(text, uri);
  }

  /** What was written is known already, from what was typed. */
  async writeFile(uri: Uri): Promise<void> {
    const { isEditable } = await this.#found(uri);
    if (!isEditable) {
      throw FileSystemError.NoPermissions(uri);
    }
    this.saved(uri);
  }

  watch(): { dispose(): void } {
    return { dispose: () => {} };
  }

  readDirectory(): [string, FileType][] {
    return [];
  }

  createDirectory(uri: Uri): void {
    throw FileSystemError.NoPermissions(uri);
  }

  delete(uri: Uri): void {
    throw FileSystemError.NoPermissions(uri);
  }

  rename(uri: Uri): void {
    throw FileSystemError.NoPermissions(uri);
  }

  dispose(): void {
    for (const timer of this.#reloading.values()) {
      clearTimeout(timer);
    }
    this.#registration.dispose();
    this.#changed.dispose();
  }

  #timesOf(uri: Uri): { changed: number; read: number } {
    const key = uri.toString();
    const times = this.#times.get(key) ?? { changed: 1, read: 1 };
    this.#times.set(key, times);
    return times;
  }

  async #found(uri: Uri): Promise<Text> {
    const found = await this.textOf(uri);
    if (!found) {
      throw FileSystemError.FileNotFound(uri);
    }
    return found;
  }
}

function encoded(text: string, uri: Uri): Uint8Array {
  const { encoding, autoGuessEncoding } = workspace.getConfiguration("files", uri);
  return Buffer.from(encoding === "utf8" && !autoGuessEncoding ? text : BOM + text);
}
