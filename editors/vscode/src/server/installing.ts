// The server in an environment of the extension's own, made from the wheel that the extension carries.

import { spawn } from "node:child_process";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import * as path from "node:path";
import { programIn } from "./finding";

const OLDEST = [3, 11] as const;
const NAMES = ["python3.14", "python3.13", "python3.12", "python3.11", "python3", "python"];
const ASK_VERSION = "import sys; print('%d.%d' % sys.version_info[:2])";
const MARK = "installed-from";
const CANCELLED = "The installation was cancelled.";

export interface Installation {
  /** Where to. */
  environment: string;
  /** The folder with the wheel that the extension carries. */
  wheels: string;
  /** An interpreter to try before those on the PATH. */
  preferred?: string;
  isWindows: boolean;
  say(line: string): void;
  signal: AbortSignal;
}

/** Install, and answer with the server's program. Leaves nothing behind if it fails or is cancelled. */
export async function install(installation: Installation): Promise<string> {
  const { environment, isWindows, signal } = installation;
  const wheel = await carriedWheel(installation.wheels);
  if (!wheel) {
    throw new Error("This build of the extension carries no server. Install it yourself: pipx install odin-lsp");
  }
  const python = await newestPython(installation);
  if (!python) {
    throw new Error(`Python ${OLDEST.join(".")} or newer is needed, and none was found on the PATH.`);
  }
  try {
    await rm(environment, { recursive: true, force: true });
    await run(installation, python, ["-m", "venv", environment]);
    const own = path.join(environment, isWindows ? "Scripts\\python.exe" : "bin/python");
    await run(installation, own, ["-m", "pip", "install", "--disable-pip-version-check", "--no-input", wheel]);
    await writeFile(path.join(environment, MARK), path.basename(wheel));
    return programIn(environment, isWindows);
  } catch (error) {
    await rm(environment, { recursive: true, force: true });
    throw signal.aborted ? new Error(CANCELLED) : error;
  }
}

/** Whether the extension carries another server than the one in its environment. */
export async function isOutdated(environment: string, wheels: string): Promise<boolean> {
  const wheel = await carriedWheel(wheels);
  const installed = await readFile(path.join(environment, MARK), "utf8").catch(() => undefined);
  return wheel !== undefined && installed !== undefined && installed !== path.basename(wheel);
}

async function carriedWheel(folder: string): Promise<string | undefined> {
  const names = await readdir(folder).catch(() => []);
  const name = names.find((it) => it.startsWith("odin_lsp-") && it.endsWith(".whl"));
  return name && path.join(folder, name);
}

async function newestPython(installation: Installation): Promise<string | undefined> {
  let best: { python: string; version: number[] } | undefined;
  for (const python of [...(installation.preferred ? [installation.preferred] : []), ...NAMES]) {
    const version = await versionOf(python, installation.signal);
    if (version && compare(version, OLDEST) >= 0 && (!best || compare(version, best.version) > 0)) {
      best = { python, version };
    }
  }
  return best?.python;
}

async function versionOf(python: string, signal: AbortSignal): Promise<number[] | undefined> {
  let said = "";
  try {
    await output(python, ["-c", ASK_VERSION], (text) => (said += text), signal);
  } catch {
    signal.throwIfAborted();
    return undefined; // not there, or not working: not this one
  }
  return said.trim().split(".").map(Number);
}

export function compare(one: readonly number[], other: readonly number[]): number {
  const at = one.findIndex((part, index) => part !== other[index]);
  return at < 0 ? 0 : (one[at] ?? 0) - (other[at] ?? 0);
}

async function run(installation: Installation, program: string, parameters: readonly string[]): Promise<void> {
  installation.say(`> ${program} ${parameters.join(" ")}`);
  await output(program, parameters, (text) => installation.say(text.trimEnd()), installation.signal);
}

function output(
  program: string,
  parameters: readonly string[],
  say: (text: string) => void,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, parameters, { stdio: ["ignore", "pipe", "pipe"], windowsHide: true, signal });
    let last = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        last = text.trim() || last;
        say(text);
      });
    }
    child.once("error", reject);
    child.once("close", (code) => {
      const words = last.split("\n").at(-1) ?? "";
      code === 0 ? resolve() : reject(new Error(`${path.basename(program)} has ended with code ${code}: ${words}`));
    });
  });
}
