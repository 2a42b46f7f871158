// What a user does with the server: install it, choose one, have it examined, read its log.

import { spawn } from "node:child_process";
import * as path from "node:path";
import { ConfigurationTarget, commands, type ExtensionContext, ProgressLocation, window, workspace } from "vscode";
import type { ReadOnlyDocuments } from "../documents";
import { t } from "../l10n";
import { during, tellUser } from "../telling";
import { wordsOf } from "../words";
import type { ServerHost } from "./host";
import { type ServerLife, SHOW_LOG } from "./life";
import type { RedactedLog } from "./redaction";
import type { Renewal } from "./renewal";

const WALKTHROUGH = "odin-lsp.odin#start";

export class Servicing {
  #installing: AbortController | undefined;

  constructor(
    private readonly context: ExtensionContext,
    private readonly host: ServerHost,
    private readonly life: ServerLife,
    private readonly log: RedactedLog,
    private readonly documents: ReadOnlyDocuments,
    private readonly renewal: Renewal,
  ) {}

  private get wheels(): string {
    return path.join(this.context.extensionPath, "dist", "wheel");
  }

  /** One at a time. */
  async install(): Promise<void> {
    if (this.#installing) {
      return;
    }
    const cancelling = new AbortController();
    this.#installing = cancelling;
    const failure = await this.#install(cancelling).catch((error: unknown) => error);
    this.#installing = undefined;
    if (failure === undefined) {
      await this.#start();
    } else if (!cancelling.signal.aborted) {
      await this.tell(failure, { title: t("Try Again"), run: () => this.install() });
    }
  }

  /** The server is ready. A newer one is only offered, not installed without a click. */
  async tendOwn(): Promise<void> {
    if (!this.host.isOwn) {
      return;
    }
    const { isOutdated } = await import("./installing");
    if (await isOutdated(await this.host.environments.current(), this.wheels)) {
      const update = t("Update");
      const chosen = await tellUser("info", t("Odin: This version of the extension contains a newer server."), update);
      if (chosen === update) {
        await this.install();
      }
    }
  }

  async choose(): Promise<void> {
    const title = t("Select the odin-lsp Program");
    const [chosen] = (await window.showOpenDialog({ title, openLabel: t("Use"), canSelectMany: false })) ?? [];
    if (chosen) {
      await workspace.getConfiguration("odin").update("server.path", chosen.fsPath, ConfigurationTarget.Global);
    }
  }

  async restart(): Promise<void> {
    try {
      await this.life.restart();
    } catch {
      // told as its state
    }
  }

  async doctor(): Promise<void> {
    try {
      const command = await this.host.command();
      const told = JSON.stringify(await this.host.initOptions());
      const options = { location: ProgressLocation.Window, title: t("Running Odin's doctor") };
      const findings = await during(options, () => outputOf(command, ["doctor", "--editor"], folderPath(), told));
      await this.documents.show(t("Odin Doctor"), `${command}\n\n${this.log.clean(findings)}`, "plaintext");
    } catch (error) {
      await this.tell(error);
    }
  }

  async help(): Promise<void> {
    await commands.executeCommand("workbench.action.openWalkthrough", WALKTHROUGH, false);
    // VS Code ticks a step when something becomes true, not if it was true before the walkthrough was first shown.
    await commands.executeCommand("setContext", "odin.gettingStarted", true);
  }

  /** What is being installed comes to nothing. */
  dispose(): void {
    this.#installing?.abort();
  }

  async #install(cancelling: AbortController): Promise<void> {
    const { install } = await import("./installing");
    const options = {
      location: ProgressLocation.Notification,
      title: t("Installing Odin's server"),
      cancellable: true,
    };
    await during(options, async (report, cancelled) => {
      cancelled(() => cancelling.abort());
      await install({
        environments: this.host.environments,
        wheels: this.wheels,
        preferred: await this.host.pythonForInstalling(),
        isWindows: process.platform === "win32",
        signal: cancelling.signal,
        log: (line) => this.log.info(line),
        tell: report,
      });
    });
  }

  /** What was installed. A turn that runs is not ended unasked. */
  async #start(): Promise<void> {
    if (this.life.state.kind === "stopped") {
      this.life.wake();
    } else {
      await this.renewal.because(t("the new server"));
    }
  }

  private async tell(error: unknown, remedy?: { title: string; run(): Promise<void> }): Promise<void> {
    this.log.error(wordsOf(error));
    const titles = [...(remedy ? [remedy.title] : []), SHOW_LOG.title];
    const chosen = await tellUser("error", t("Odin: {0}", wordsOf(error)), ...titles);
    if (chosen === SHOW_LOG.title) {
      this.log.show();
    } else if (chosen) {
      await remedy?.run();
    }
  }
}

function folderPath(): string | undefined {
  return workspace.workspaceFolders?.find((it) => it.uri.scheme === "file")?.uri.fsPath;
}

/** What it writes, whatever its code: the doctor ends with another than 0 if something is wrong. */
function outputOf(
  program: string,
  parameters: readonly string[],
  folder: string | undefined,
  input: string,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, parameters, { cwd: folder, stdio: "pipe", windowsHide: true });
    child.stdin.on("error", () => {}); // it has ended before it was told
    child.stdin.end(input);
    let text = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (part: string) => {
        text += part;
      });
    }
    child.once("error", reject);
    child.once("close", () => resolve(text));
  });
}
