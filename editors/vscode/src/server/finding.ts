// Where the server is: the setting, the selected Python environment, the extension's own, the PATH. It gets all API
// keys, so a program of the workspace is taken only if the user's own setting names that very file.

import { realpath } from "node:fs/promises";
import * as path from "node:path";
import { t } from "../l10n";

export interface Places {
  /** `odin.server.path`, as it is set. */
  configured: string;
  home: string;
  /** The interpreter that is selected in the Python extension. Only asked for if the workspace is trusted. */
  selectedPython(): Promise<string | undefined>;
  /** The folder of the extension's own environment, if there is one. */
  ownEnvironment(): Promise<string | undefined>;
  /** The environment variable. */
  searchPath: string;
  isWindows: boolean;
  isExecutable(file: string): Promise<boolean>;
  isOfWorkspace(file: string): Promise<boolean>;
  /** A server was found that is not used, because it belongs to the workspace. */
  onPassedOver(file: string): void;
}

export type Finding =
  | { kind: "found"; command: string; origin: "setting" | "python" | "own" | "path" }
  | { kind: "misconfigured"; why: string }
  | { kind: "missing" };

export async function findServer(places: Places): Promise<Finding> {
  const configured = places.configured.trim();
  if (configured) {
    return findConfigured(configured, places);
  }
  const python = await places.selectedPython();
  if (python) {
    const beside = path.join(path.dirname(python), programName(places.isWindows));
    if (await isUsable(beside, places)) {
      return { kind: "found", command: beside, origin: "python" };
    }
  }
  const own = await places.ownEnvironment();
  if (own && (await isWhole(own, places))) {
    return { kind: "found", command: programIn(own, places.isWindows), origin: "own" };
  }
  const onPath = await findOnPath(programName(places.isWindows), places);
  return onPath ? { kind: "found", command: onPath, origin: "path" } : { kind: "missing" };
}

/** Whether a file is in one of these folders, by its name or by where it or its folder leads. */
export async function isWithin(file: string, folders: readonly string[]): Promise<boolean> {
  const real = (it: string): Promise<string> => realpath(it).catch(() => path.resolve(it));
  const ends = [path.resolve(file), await real(file), await real(path.dirname(file))];
  const places = [...folders.map((it) => path.resolve(it)), ...(await Promise.all(folders.map(real)))];
  return places.some((folder) => ends.some((end) => isBelow(end, folder)));
}

function isBelow(file: string, folder: string): boolean {
  const way = path.relative(folder, file);
  return way !== ".." && !way.startsWith(`..${path.sep}`) && !path.isAbsolute(way);
}

async function isUsable(file: string, places: Places): Promise<boolean> {
  if (!(await places.isExecutable(file))) {
    return false;
  }
  const isOfWorkspace = await places.isOfWorkspace(file);
  if (isOfWorkspace) {
    places.onPassedOver(file);
  }
  return !isOfWorkspace;
}

/** The server's program in a virtual environment. */
export function programIn(environment: string, isWindows: boolean): string {
  return path.join(environment, isWindows ? "Scripts" : "bin", programName(isWindows));
}

/** The interpreter in a virtual environment. */
export function pythonIn(environment: string, isWindows: boolean): string {
  return path.join(environment, ...(isWindows ? ["Scripts", "python.exe"] : ["bin", "python"]));
}

/** The Python that an environment was made of goes with its next version, and leaves a program that cannot run. */
async function isWhole(environment: string, { isWindows, isExecutable }: Places): Promise<boolean> {
  return (
    (await isExecutable(programIn(environment, isWindows))) && (await isExecutable(pythonIn(environment, isWindows)))
  );
}

function programName(isWindows: boolean): string {
  return isWindows ? "odin-lsp.exe" : "odin-lsp";
}

async function findConfigured(configured: string, places: Places): Promise<Finding> {
  const isName = !/[\\/]/.test(configured);
  const named = configured.startsWith("~/") ? path.join(places.home, configured.slice(2)) : configured;
  if (!isName && !path.isAbsolute(named)) {
    return {
      kind: "misconfigured",
      why: t("The setting odin.server.path must be an absolute path, but is “{0}”.", configured),
    };
  }
  const command = isName ? await findOnPath(named, places) : named;
  if (command && (await places.isExecutable(command))) {
    return { kind: "found", command, origin: "setting" };
  }
  const why = isName
    ? t("The setting odin.server.path is “{0}”, which is not on the PATH.", configured)
    : t("The setting odin.server.path is “{0}”, which does not exist or is not executable.", configured);
  return { kind: "misconfigured", why };
}

/** A relative entry of the PATH would be looked for in the workspace, which may be anybody's. */
async function findOnPath(name: string, places: Places): Promise<string | undefined> {
  for (const folder of places.searchPath.split(places.isWindows ? ";" : ":")) {
    const file = path.join(folder, name);
    if (path.isAbsolute(folder) && (await isUsable(file, places))) {
      return file;
    }
  }
  return undefined;
}
