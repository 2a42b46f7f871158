// With a real Python and a real pip, and wheels that need nothing from elsewhere.

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import { devNull, tmpdir } from "node:os";
import * as path from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { Environments } from "../src/server/environments";
import { programIn } from "../src/server/finding";
import {
  choosePython,
  compare,
  environmentOf,
  type Installation,
  install,
  isOutdated,
  stepIn,
  whyFailed,
} from "../src/server/installing";

const run = promisify(execFile);
const SLOW = { timeout: 120_000 };
let folder = "";
let good = "";
let newer = "";
/** Needs a package that has to be fetched. */
let needy = "";

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "odin-"));
  [good, newer, needy] = await Promise.all([
    wheels("good", "0.0.1"),
    wheels("newer", "0.0.2"),
    wheels("needy", "9", "x"),
  ]);
});

beforeEach(() => {
  vi.stubEnv("PIP_CONFIG_FILE", devNull);
  vi.stubEnv("PIP_FIND_LINKS", "");
  vi.stubEnv("PIP_NO_INDEX", "1");
});

afterEach(() => {
  vi.unstubAllEnvs();
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function wheels(name: string, version: string, ...requirements: string[]): Promise<string> {
  const made = path.join(folder, name);
  await run("python3", ["test/make-wheel.py", made, version, ...requirements]);
  return made;
}

function installation(name: string, more: Partial<Installation> = {}): Installation & { root: string } {
  const root = path.join(folder, name);
  return {
    root,
    environments: new Environments(root),
    wheels: good,
    isWindows: false,
    log: () => {},
    tell: () => {},
    signal: new AbortController().signal,
    ...more,
  };
}

/** What the server that counts says. */
async function said({ environments }: Installation): Promise<string> {
  const environment = await environments.current();
  return environment ? (await run(programIn(environment, false))).stdout.trim() : "there is none";
}

/** An index of packages that never answers; who has asked, and the wish to be told. */
async function silentIndex(): Promise<{ url: string; asked: Promise<Socket>; close(): void }> {
  const server = createServer().listen(0, "127.0.0.1");
  const asked = once(server, "connection").then(([socket]) => (socket as Socket).resume().on("error", () => {}));
  await once(server, "listening");
  const address = server.address() as { port: number };
  return { url: `http://127.0.0.1:${address.port}/`, asked, close: () => server.close() };
}

function fetchFrom(url: string): void {
  vi.stubEnv("PIP_NO_INDEX", "0");
  vi.stubEnv("PIP_INDEX_URL", url);
  vi.stubEnv("PIP_EXTRA_INDEX_URL", "");
  vi.stubEnv("NO_PROXY", "127.0.0.1");
}

test("the server that the extension carries is installed, and replaced by a newer one", SLOW, async () => {
  const lines: string[] = [];
  const steps: string[] = [];
  const one = installation("updated", { log: (line) => lines.push(line), tell: (step) => steps.push(step) });
  await install(one);
  expect(await said(one)).toBe("0.0.1");
  expect(lines.join("\n")).toContain("Successfully installed odin-lsp-0.0.1");
  expect(steps).toEqual(["Creating an environment…", "Unpacking 1 package…"]);
  const old = (await one.environments.current()) as string;
  expect(await isOutdated(old, good)).toBe(false);
  expect(await isOutdated(old, newer)).toBe(true);

  await install({ ...one, wheels: newer });
  expect(await said(one)).toBe("0.0.2");
  expect((await run(programIn(old, false))).stdout.trim()).toBe("0.0.1"); // it may still be running
  expect(await isOutdated(await one.environments.current(), newer)).toBe(false);
});

test("what fails says why, and the server that was there stays", SLOW, async () => {
  const one = installation("failing");
  await install(one);
  const before = await readdir(one.root);
  await expect(install({ ...one, wheels: needy })).rejects.toThrow(
    /code 1: ERROR: No matching distribution found for x/,
  );
  expect(await said(one)).toBe("0.0.1");
  expect(await readdir(one.root)).toEqual(before);
});

test("who cancels ends pip, and nothing is left of it", SLOW, async () => {
  const index = await silentIndex();
  fetchFrom(index.url);
  const cancelling = new AbortController();
  const one = installation("cancelled", { wheels: needy, signal: cancelling.signal });
  const installing = expect(install(one)).rejects.toThrow("aborted");
  const pip = await index.asked;
  const ended = once(pip, "close"); // only the end of pip closes it
  cancelling.abort();
  await Promise.all([installing, ended]);
  expect(await readdir(one.root)).toEqual([]);
  expect(await said(one)).toBe("there is none");
  index.close();
});

test("an installation that was killed with VS Code counts for nothing, and is begun anew", SLOW, async () => {
  const index = await silentIndex();
  fetchFrom(index.url);
  const one = installation("killed", { wheels: needy });
  const killed = await installElsewhere(one);
  const pip = await index.asked;
  const half = await readdir(one.root);
  expect(half).toContain("lock1");
  await expect(install(one)).rejects.toThrow("Another window");
  killed.kill("SIGKILL");
  await once(killed, "exit");
  pip.destroy();
  index.close();
  expect(await said(one)).toBe("there is none");

  await install({ ...one, wheels: good });
  expect(await said(one)).toBe("0.0.1");
  expect((await readdir(one.root)).filter((it) => half.includes(it))).toEqual([]);
});

/** In a process of its own, as in another window. */
async function installElsewhere({ root, wheels }: Installation & { root: string }): Promise<ChildProcess> {
  const outfile = path.join(folder, "elsewhere.cjs");
  const contents = `
    import { Environments } from "./src/server/environments";
    import { install } from "./src/server/installing";
    const [root, wheels] = process.argv.slice(2);
    const nothing = () => {};
    install({ environments: new Environments(root), wheels, isWindows: false, log: nothing, tell: nothing,
      signal: new AbortController().signal });
  `;
  await build({ stdin: { contents, resolveDir: "." }, outfile, bundle: true, platform: "node", format: "cjs" });
  return spawn(process.execPath, [outfile, root, wheels], { stdio: "ignore" });
}

async function pythonWithout(...modules: string[]): Promise<string> {
  const made = await mkdtemp(path.join(folder, "python-"));
  await run("python3", ["test/make-python.py", made, ...modules]);
  return path.join(made, "bin");
}

test("a Python that the operating system manages is good enough", SLOW, async () => {
  const bin = await pythonWithout();
  vi.stubEnv("PATH", bin);
  const wheel = path.join(good, "odin_lsp-0.0.1-py3-none-any.whl");
  const itself = run(path.join(bin, "python3"), ["-m", "pip", "install", wheel]);
  await expect(itself).rejects.toThrow("externally-managed-environment");
  const one = installation("managed");
  await install(one);
  expect(await said(one)).toBe("0.0.1");
});

test("a Python without pip brings its own", SLOW, async () => {
  vi.stubEnv("PATH", await pythonWithout("pip"));
  const one = installation("without-pip");
  await install(one);
  expect(await said(one)).toBe("0.0.1");
});

test("a Python that cannot make environments is told with what to do", SLOW, async () => {
  vi.stubEnv("PATH", await pythonWithout("pip", "ensurepip"));
  const one = installation("unable");
  await expect(install(one)).rejects.toThrow(
    /pip or ensurepip, which .* lacks\. .*“sudo apt install python3\.\d+-venv”/,
  );
  await expect(readdir(one.root)).rejects.toThrow();
});

test("neither another Python's modules nor programs of the workspace have a part in it", () => {
  const env = environmentOf({ PATH: ".:bin::/usr/bin:/bin", PYTHONPATH: "/work", PYTHONHOME: "/old", LANG: "C" });
  expect(env).toEqual({ PATH: "/usr/bin:/bin", LANG: "C" });
});

test("the newest Python is used that can make environments", () => {
  const python = (minor: number, ...modules: string[]): Parameters<typeof choosePython>[0][number] => ({
    command: `python3.${minor}`,
    version: [3, minor],
    modules,
  });
  const able = ["venv", "ensurepip"];
  expect(
    choosePython([python(9, ...able), python(13, "venv"), python(11, ...able), python(12, ...able)]),
  ).toMatchObject({
    command: "python3.12",
  });
  expect(() => choosePython([python(9, ...able)])).toThrow("Python 3.11 or newer, and none is on the PATH");
});

test("what pip cannot reach is told as that", () => {
  const said = [
    "WARNING: Retrying … after connection broken by 'NameResolutionError(…)': /simple/x/",
    "ERROR: No matching distribution found for x",
  ];
  expect(whyFailed("python", 1, said)).toContain("cannot reach the package index");
});

test("pip's words become steps", () => {
  expect(stepIn("Collecting anthropic<3,>=2.8 (from odin-lsp==0.1.0)")).toBe("Fetching anthropic…");
  expect(stepIn("Installing collected packages: a, b-c, odin-lsp")).toBe("Unpacking 3 packages…");
  expect(stepIn("  Downloading anthropic-2.8.0-py3-none-any.whl (2.4 MB)")).toBeUndefined();
});

test("an extension without a wheel says how to install the server", async () => {
  await expect(install(installation("none", { wheels: path.join(folder, "nowhere") }))).rejects.toThrow("pipx install");
});

test("versions are compared as numbers", () => {
  expect(compare([3, 9], [3, 11])).toBeLessThan(0);
  expect(compare([3, 14], [3, 11])).toBeGreaterThan(0);
  expect(compare([3, 11], [3, 11])).toBe(0);
});
