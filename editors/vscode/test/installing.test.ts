// With a real Python, and a wheel that needs nothing from elsewhere.

import { execFile } from "node:child_process";
import { access, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { compare, type Installation, install, isOutdated } from "../src/server/installing";

const run = promisify(execFile);
const MAKE_WHEEL = `
import sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w") as wheel:
    info = "odin_lsp-0.0.1.dist-info"
    wheel.writestr("odin_small.py", "def main():\\n    print('small')\\n")
    wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\\nName: odin-lsp\\nVersion: 0.0.1\\n")
    wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr(f"{info}/entry_points.txt", "[console_scripts]\\nodin-lsp = odin_small:main\\n")
    wheel.writestr(f"{info}/RECORD", "")
`;
let folder = "";
let wheels = "";

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "odin-"));
  wheels = path.join(folder, "wheels");
  await mkdir(wheels);
  await run("python3", ["-c", MAKE_WHEEL, path.join(wheels, "odin_lsp-0.0.1-py3-none-any.whl")]);
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

function installation(name: string, more: Partial<Installation> = {}): Installation {
  return {
    environment: path.join(folder, name),
    wheels,
    isWindows: false,
    say: () => {},
    signal: new AbortController().signal,
    ...more,
  };
}

test("the server that the extension carries is installed and runs", { timeout: 120_000 }, async () => {
  const said: string[] = [];
  const one = installation("good", { say: (line) => said.push(line) });
  const program = await install(one);
  expect((await run(program)).stdout.trim()).toBe("small");
  expect(said.join("\n")).toContain("pip install");
  expect(await isOutdated(one.environment, wheels)).toBe(false);

  const newer = path.join(folder, "newer");
  await mkdir(newer);
  await writeFile(path.join(newer, "odin_lsp-0.0.2-py3-none-any.whl"), "");
  expect(await isOutdated(one.environment, newer)).toBe(true);
});

test("what fails leaves nothing behind, and says why", { timeout: 120_000 }, async () => {
  const broken = path.join(folder, "broken");
  await mkdir(broken);
  await writeFile(path.join(broken, "odin_lsp-9-py3-none-any.whl"), "no zip");
  const one = installation("bad", { wheels: broken });
  await expect(install(one)).rejects.toThrow(/has ended with code 1/);
  await expect(access(one.environment)).rejects.toThrow();
});

test("what is cancelled leaves nothing behind", { timeout: 120_000 }, async () => {
  const cancelling = new AbortController();
  const one = installation("cancelled", { signal: cancelling.signal, say: () => cancelling.abort() });
  await expect(install(one)).rejects.toThrow("cancelled");
  await expect(access(one.environment)).rejects.toThrow();
});

test("an extension without a wheel says how to install the server", async () => {
  await expect(install(installation("none", { wheels: path.join(folder, "nowhere") }))).rejects.toThrow("pipx install");
});

test("versions are compared as numbers", () => {
  expect(compare([3, 9], [3, 11])).toBeLessThan(0);
  expect(compare([3, 14], [3, 11])).toBeGreaterThan(0);
  expect(compare([3, 11], [3, 11])).toBe(0);
});
