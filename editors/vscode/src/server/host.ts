// What the server is started with in this window: where it is, the user's settings and keys, the workspace's trust.

import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { homedir } from "node:os";
import * as path from "node:path";
import { isDeepStrictEqual } from "node:util";
import { type ExtensionContext, extensions, workspace } from "vscode";
import type { Middleware } from "vscode-languageclient/node";
import { inBackground } from "../background";
import { Emitter } from "../emitter";
import { t } from "../l10n";
import type { EventRecord, InitOptions } from "../protocol";
import type { Keys } from "../secrets";
import { serverSettings, userSetting } from "../settings";
import { Environments } from "./environments";
import { type Finding, findServer, isWithin } from "./finding";
import type { Answers } from "./launch";
import { action, CHOOSE, INSTALL, type Running, ServerProblem, SHOW_LOG } from "./life";
import { type PythonApi, SelectedPython } from "./python";
import type { RedactedLog } from "./redaction";

const PYTHON_EXTENSION = "ms-python.python";
const HELP = action(() => t("Help"), "odin.vscode.help");

export class ServerHost {
  readonly #python: SelectedPython;
  readonly #changes = new Emitter<void>();
  /** Another Python environment is selected, and with it another server is found than the one that was started. */
  readonly onDidFindAnother = this.#changes.event;
  /** What was found when the server was started, or told since. */
  #found: Finding | undefined;

  constructor(
    private readonly context: ExtensionContext,
    private readonly log: RedactedLog,
    private readonly keys: Keys,
    private readonly answers: Answers,
    private readonly middleware: Middleware,
  ) {
    this.#python = new SelectedPython(
      () => extensions.getExtension<PythonApi>(PYTHON_EXTENSION),
      () => inBackground(this.#compare()),
    );
  }

  /** Those that the extension installs the server into. */
  get environments(): Environments {
    return new Environments(path.join(this.context.globalStorageUri.fsPath, "environments"));
  }

  async launch(onEvent: (record: EventRecord) => void): Promise<Running> {
    this.#found = await this.#find();
    const command = this.#commandOf(this.#found);
    const configuration = workspace.getConfiguration("odin");
    const { launch } = await import("./launch");
    return launch({
      command,
      parameters: userSetting<string[]>(configuration, "server.arguments", []),
      folder: await firstFolder(),
      init: await this.initOptions(),
      reviews: userSetting<string>(configuration, "review.surface", "diff") !== "refactorPreview",
      log: this.log,
      clean: (text) => this.log.clean(text),
      answers: this.answers,
      middleware: this.middleware,
      onEvent,
    });
  }

  /** The user's settings and keys, and whether the workspace is trusted. */
  async initOptions(): Promise<InitOptions> {
    const settings = serverSettings(workspace.getConfiguration("odin"));
    return { settings, secrets: await this.keys.all(), trusted: workspace.isTrusted };
  }

  /** Whether the server is the one that the extension has installed. */
  get isOwn(): boolean {
    return this.#found?.kind === "found" && this.#found.origin === "own";
  }

  /** The server's program. Rejects with what to do about it if there is none. */
  async command(): Promise<string> {
    return this.#commandOf(await this.#find());
  }

  /** The interpreter of the workspace's environment, which is not run before the workspace is trusted. */
  async selectedPython(): Promise<string | undefined> {
    return workspace.isTrusted ? this.#python.executable(workspace.workspaceFolders?.[0]?.uri) : undefined;
  }

  /** The interpreter to install the server with. One of the workspace's could make any server, which gets all keys. */
  async pythonForInstalling(): Promise<string | undefined> {
    const python = await this.selectedPython();
    return python && !(await isOfWorkspace(python)) ? python : undefined;
  }

  dispose(): void {
    this.#python.dispose();
  }

  #commandOf(found: Finding): string {
    switch (found.kind) {
      case "found":
        this.log.info(`The server is ${found.command} (${found.origin}).`);
        return found.command;
      case "misconfigured":
        throw new ServerProblem(found.why, [CHOOSE, HELP, SHOW_LOG]);
      case "missing":
        throw new ServerProblem(t("Odin's server, odin-lsp, is not installed."), [INSTALL, CHOOSE, HELP]);
    }
  }

  /** A server that runs goes on if the environment has none. */
  async #compare(): Promise<void> {
    const found = await this.#find();
    if (found.kind === "found" && !isDeepStrictEqual(found, this.#found)) {
      this.#found = found;
      this.#changes.fire();
    }
  }

  #find(): Promise<Finding> {
    return findServer({
      configured: userSetting(workspace.getConfiguration("odin"), "server.path", ""),
      home: homedir(),
      selectedPython: () => this.selectedPython(),
      ownEnvironment: () => this.environments.current(),
      searchPath: process.env.PATH ?? "",
      isWindows: process.platform === "win32",
      isExecutable,
      isOfWorkspace,
      onPassedOver: (file) =>
        this.log.warn(
          `The server ${file} is not used: it is inside the workspace, and the server gets your API keys. To use it, ` +
            "set odin.server.path to this file in your user settings.",
        ),
    });
  }
}

async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}

function isOfWorkspace(file: string): Promise<boolean> {
  const folders = workspace.workspaceFolders?.filter((it) => it.uri.scheme === "file") ?? [];
  return isWithin(
    file,
    folders.map((it) => it.uri.fsPath),
  );
}

async function firstFolder(): Promise<string | undefined> {
  const folder = workspace.workspaceFolders?.find((it) => it.uri.scheme === "file")?.uri.fsPath;
  const found = folder ? await stat(folder).catch(() => undefined) : undefined;
  return found?.isDirectory() ? folder : undefined;
}
