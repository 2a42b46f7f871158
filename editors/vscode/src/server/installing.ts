// The server in an environment of the extension's own, made from the wheel that the extension carries.

import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import * as path from "node:path";
import { t, tn } from "../l10n";
import type { Environments } from "./environments";
import { programIn, pythonIn } from "./finding";
import { run } from "./programs";

const OLDEST = [3, 11] as const;
const NAMES = ["python3.14", "python3.13", "python3.12", "python3.11", "python3", "python"];
const DESCRIBE = `
import importlib.util, sys
print("%d.%d" % sys.version_info[:2], *(it for it in ("venv", "pip", "ensurepip") if importlib.util.find_spec(it)))
`;
const MARK = "installed-from";
const UNREACHABLE = /NewConnectionError|NameResolutionError|ConnectTimeout|ProxyError|SSLError/;

export interface Installation {
  environments: Environments;
  /** The folder with the wheel that the extension carries. */
  wheels: string;
  /** An interpreter to try besides those on the PATH. */
  preferred?: string;
  isWindows: boolean;
  /** Every line that the programs say. */
  log(line: string): void;
  /** What is being done, in words for the user. */
  tell(step: string): void;
  signal: AbortSignal;
}

interface Python {
  command: string;
  version: number[];
  modules: string[];
}

/** Install. If it fails or is cancelled, all is as it was before. */
export async function install(installation: Installation): Promise<void> {
  const wheel = await carriedWheel(installation.wheels);
  if (!wheel) {
    throw new Error(t("This build of the extension contains no server. Install it yourself: pipx install odin-lsp"));
  }
  const python = choosePython(await pythons(installation));
  await installation.environments.renew((folder) => fill(folder, wheel, python, installation));
}

/** Whether the extension carries another server than the one in its environment. */
export async function isOutdated(environment: string | undefined, wheels: string): Promise<boolean> {
  const wheel = await carriedWheel(wheels);
  const installed = environment && (await readFile(path.join(environment, MARK), "utf8").catch(() => undefined));
  return Boolean(wheel && installed) && installed !== path.basename(wheel as string);
}

/** As little as possible: no pip of its own, and no bytecode but what Python makes of the modules it really uses. */
async function fill(folder: string, wheel: string, python: Python, installation: Installation): Promise<void> {
  const { isWindows } = installation;
  const temporary = path.join(folder, "tmp");
  await mkdir(temporary);
  const env = { ...environmentOf(process.env), TMPDIR: temporary, TEMP: temporary, TMP: temporary };
  const own = pythonIn(folder, isWindows);
  installation.tell(t("Creating an environment…"));
  await succeed(installation, env, python.command, ["-I", "-m", "venv", "--without-pip", folder]);
  let pip = [python.command, "-I", "-m", "pip", "--python", own];
  if (!python.modules.includes("pip")) {
    await succeed(installation, env, own, ["-I", "-m", "ensurepip"]);
    pip = [own, "-I", "-m", "pip"];
  }
  const quick = ["--only-binary", ":all:", "--no-compile", "--disable-pip-version-check", "--no-input"];
  const [program = "", ...parameters] = [...pip, "install", ...quick, `${wheel}[mcp]`];
  await succeed(installation, { ...env, PIP_USER: "0" }, program, parameters);
  await succeed(installation, env, programIn(folder, isWindows), ["--version"]);
  await rm(temporary, { recursive: true, force: true });
  await writeFile(path.join(folder, MARK), path.basename(wheel));
}

async function carriedWheel(folder: string): Promise<string | undefined> {
  const names = await readdir(folder).catch(() => []);
  const name = names.find((it) => it.startsWith("odin_lsp-") && it.endsWith(".whl"));
  return name && path.join(folder, name);
}

/** The newest that can make environments. Throws what to do if there is none. */
export function choosePython(found: readonly Python[]): Python {
  const oldest = OLDEST.join(".");
  const [newest, ...older] = found
    .filter((it) => compare(it.version, OLDEST) >= 0)
    .sort((one, other) => compare(other.version, one.version));
  if (!newest) {
    throw new Error(
      t(
        "Odin's server needs Python {0} or newer, and none is on the PATH. Install it, or set odin.server.path.",
        oldest,
      ),
    );
  }
  const able = [newest, ...older].find(({ modules }) => modules.includes("venv") && modules.length > 1);
  if (!able) {
    const name = `python${newest.version.join(".")}`;
    const why = t("Odin's server needs Python {0} or newer with pip or ensurepip, which {1} lacks.", oldest, name);
    const how = t("On Debian and Ubuntu, run “sudo apt install {0}-venv”, then install again.", name);
    throw new Error(`${why} ${how}`);
  }
  return able;
}

async function pythons({ preferred, signal }: Installation): Promise<Python[]> {
  const names = preferred ? [preferred, ...NAMES] : NAMES;
  const found = await Promise.all(names.map((name) => describe(name, signal)));
  return found.filter((it) => it !== undefined);
}

async function describe(command: string, signal: AbortSignal): Promise<Python | undefined> {
  const said: string[] = [];
  try {
    const onLine = (line: string): unknown => said.push(line);
    if ((await run(command, ["-I", "-c", DESCRIBE], { env: environmentOf(process.env), signal, onLine })) !== 0) {
      return undefined;
    }
  } catch {
    signal.throwIfAborted();
    return undefined; // not there
  }
  const [version = "", ...modules] = said.at(-1)?.split(" ") ?? [];
  return { command, version: version.split(".").map(Number), modules };
}

export function compare(one: readonly number[], other: readonly number[]): number {
  const at = one.findIndex((part, index) => part !== other[index]);
  return at < 0 ? 0 : (one[at] ?? 0) - (other[at] ?? 0);
}

/** Without what is meant for other Pythons: packages on a PYTHONPATH would be taken for installed ones. And without
 * relative entries of the PATH, which may lead into anybody's workspace. */
export function environmentOf(all: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const env = Object.fromEntries(Object.entries(all).filter(([name]) => !name.startsWith("PYTHON")));
  const folders = (all.PATH ?? "").split(path.delimiter);
  return { ...env, PATH: folders.filter((it) => path.isAbsolute(it)).join(path.delimiter) };
}

async function succeed(
  { log, tell, signal }: Installation,
  env: NodeJS.ProcessEnv,
  program: string,
  parameters: readonly string[],
): Promise<void> {
  log(`> ${program} ${parameters.join(" ")}`);
  const said: string[] = [];
  const onLine = (line: string): void => {
    log(line);
    said.push(line);
    const step = stepIn(line);
    if (step) {
      tell(step);
    }
  };
  const code = await run(program, parameters, { env, signal, onLine });
  if (code !== 0) {
    throw new Error(whyFailed(path.basename(program), code, said));
  }
}

/** What pip is about, if the line says it. */
export function stepIn(line: string): string | undefined {
  const fetched = /^Collecting ([\w.-]+)/.exec(line)?.[1];
  const unpacked = /^Installing collected packages: (.*)/.exec(line)?.[1]?.split(",").length;
  if (fetched) return t("Fetching {0}…", fetched);
  return unpacked ? tn(unpacked, "Unpacking {0} package…", "Unpacking {0} packages…") : undefined;
}

export function whyFailed(program: string, code: number, said: readonly string[]): string {
  if (said.some((line) => UNREACHABLE.test(line))) {
    return t(
      "pip cannot reach the package index. Check your connection. Behind a proxy, configure pip to use it, then install again.",
    );
  }
  const words = said.findLast((line) => line.startsWith("ERROR")) ?? said.findLast((line) => line.trim()) ?? "";
  return t("{0} stopped with code {1}: {2}", program, code, words.trim());
}
