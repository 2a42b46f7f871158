// The server's process: how it was started, the last it said, and how it ended.

import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { t } from "../l10n";
import { CHOOSE, ServerProblem, SHOW_LOG } from "./life";

const KEPT_LINES = 40;
const SHOWN_LINES = 3;
const DRAIN_MS = 300;
const SOON_MS = 2000;

export class ServerProcess {
  readonly #lines: string[] = [];
  /** In words: with which code it has ended, and the last it said. */
  readonly ended: Promise<string>;
  #why = "";

  private constructor(
    readonly child: ChildProcessWithoutNullStreams,
    private readonly clean: (text: string) => string,
  ) {
    createInterface({ input: child.stderr }).on("line", (line) => {
      this.#lines.push(line);
      this.#lines.splice(0, this.#lines.length - KEPT_LINES);
    });
    child.stdin.on("error", () => {}); // told as the end of the process
    this.ended = new Promise((resolve) => {
      const resolveWith = (code: number | null, signal: NodeJS.Signals | null): void =>
        resolve(this.#epitaph(code, signal));
      child.once("close", resolveWith);
      // Something that it has started may keep its pipes open.
      child.once("exit", (code, signal) => setTimeout(() => resolveWith(code, signal), DRAIN_MS));
    });
  }

  static async start(
    command: string,
    parameters: readonly string[],
    folder: string | undefined,
    clean: (text: string) => string,
  ): Promise<ServerProcess> {
    const child = spawn(command, parameters, { cwd: folder, stdio: "pipe", windowsHide: true });
    await new Promise<void>((resolve, reject) => {
      child.once("spawn", resolve);
      child.once("error", (error: NodeJS.ErrnoException) => reject(cannotStart(command, error)));
    });
    return new ServerProcess(child, clean);
  }

  /** How it has ended, if it has, or is about to: its pipes close before its end is known. */
  endedSoon(): Promise<string | undefined> {
    return Promise.race([this.ended, new Promise<undefined>((resolve) => setTimeout(resolve, SOON_MS))]);
  }

  /** End it at once; `why` is what the user is told. */
  kill(why = ""): void {
    this.#why ||= why;
    this.child.kill("SIGKILL");
  }

  #epitaph(code: number | null, signal: NodeJS.Signals | null): string {
    const ended = signal
      ? t("Odin's server stopped with signal {0}.", signal)
      : t("Odin's server stopped with code {0}.", code ?? "?");
    const how = this.#why || ended;
    const said = this.#lines.filter((line) => line.trim()).slice(-SHOWN_LINES);
    return this.clean(said.length > 0 ? t("{0} Its last output: {1}", how, said.join(" ⏎ ")) : how);
  }
}

function cannotStart(command: string, error: NodeJS.ErrnoException): ServerProblem {
  const reasons: Partial<Record<string, string>> = {
    ENOENT: t("the file does not exist"),
    EACCES: t("the file is not executable"),
    ENOEXEC: t("the file is not a program"),
  };
  const reason = reasons[error.code ?? ""] ?? error.message;
  return new ServerProblem(t("Could not start Odin's server {0}: {1}.", command, reason), [CHOOSE, SHOW_LOG]);
}
