// What users install: how large it is, what is in it, and what it does before anybody wants anything of it.

import { execFile } from "node:child_process";
import { cp, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { promisify } from "node:util";
import { createVSIX, listFiles } from "@vscode/vsce";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bundles } from "../build.mjs";
import manifest from "../package.json";
import names from "../package.nls.json";
import { packagedReadme, README } from "../readme.mjs";
import { OWN_COMMANDS } from "../src/chat/messages";

const run = promisify(execFile);
const MOST_BYTES = 1.5 * 1024 * 1024;
const PACKAGED = [".vscodeignore", "CHANGELOG.md", "LICENSE", "l10n", "media", "package.json", "package.nls.json"];
const OWN = "odin.vscode.";
const SLOW = { timeout: 60_000 };
let folder = "";
let activated: { ms: number; emptyMs: number; loaded: string[]; commands: string[] };

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "odin-"));
  const outdir = path.join(folder, "dist");
  await Promise.all(bundles({ production: true, outdir, logLevel: "warning" }).map((bundle) => build(bundle)));
  await cp("../../docs/config.schema.json", path.join(outdir, "config.schema.json"));
  await Promise.all(PACKAGED.map((name) => cp(name, path.join(folder, name), { recursive: true })));
  await writeFile(path.join(folder, README), packagedReadme());
  const script = path.join("test", "activate.cjs");
  activated = JSON.parse((await run(process.execPath, [script, path.join(outdir, "extension.js")])).stdout);
}, 60_000);

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

test("the package is no larger than 1.5 MB without the wheel, and has nothing needless in it", SLOW, async () => {
  const packagePath = path.join(folder, "odin.vsix");
  await createVSIX({ cwd: folder, packagePath, dependencies: false, allowMissingRepository: true, readmePath: README });
  const { size } = await stat(packagePath);
  console.log(`the package has ${Math.round(size / 1024)} KiB`);
  expect(size).toBeLessThan(MOST_BYTES);
  const files = await listFiles({ cwd: folder });
  expect(files.filter((it) => /\.(map|ts|mjs)$/.test(it))).toEqual([]);
  expect(files).toEqual(
    expect.arrayContaining([
      "dist/extension.js",
      "dist/launch.js",
      "dist/webview.js",
      "l10n/bundle.l10n.json",
      "media/odin.svg",
      "package.nls.json",
    ]),
  );
});

test("activation loads nothing but the extension itself", () => {
  console.log(`activation takes ${activated.ms.toFixed(1)} ms, an empty module ${activated.emptyMs.toFixed(1)} ms`);
  const [first, ...rest] = activated.loaded;
  expect(first).toMatch(/extension\.js$/);
  expect(rest.filter((it) => it !== "vscode" && !isBuiltin(it))).toEqual([]);
});

test("every command that is contributed is there, and the other way round", () => {
  const registered = activated.commands.filter((it) => it.startsWith(OWN));
  expect(registered).toEqual(manifest.contributes.commands.map((it) => it.command).sort());
});

test("menus, keys, the walkthrough and the chat name commands that there are", () => {
  const { menus, keybindings, walkthroughs } = manifest.contributes;
  const inMenus = Object.values(menus).flatMap((items) => items.flatMap((it) => ("command" in it ? [it.command] : [])));
  const words = JSON.stringify([walkthroughs, names]).matchAll(/command:(odin\.vscode\.\w+)/gi);
  const named = [...inMenus, ...keybindings.map((it) => it.command), ...[...words].map((it) => it[1]), ...OWN_COMMANDS];
  const known = new Set<string | undefined>(manifest.contributes.commands.map((it) => it.command));
  expect(named.filter((it) => it?.startsWith(OWN) && !known.has(it))).toEqual([]);
});

test("pictures that are named are there", async () => {
  const named = JSON.stringify(manifest).match(/media\/[\w/.-]+/g) ?? [];
  const there = await readdir("media", { recursive: true });
  expect(named.filter((it) => !there.includes(it.replace("media/", "")))).toEqual([]);
});
