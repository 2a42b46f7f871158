import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ServerProcess } from "../src/server/process";

const NODE = process.execPath;
const asItIs = (text: string): string => text;
let folder = "";

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "odin-"));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

test("a program that is not there is named, with what to do", async () => {
  const missing = path.join(folder, "odin-lsp");
  const started = ServerProcess.start(missing, [], undefined, asItIs);
  await expect(started).rejects.toMatchObject({
    message: expect.stringContaining(`Could not start Odin's server ${missing}: the file does not exist.`),
    actions: expect.arrayContaining([expect.objectContaining({ command: "odin.vscode.chooseServer" })]),
  });
});

test("a program that may not be run is named", async () => {
  const file = path.join(folder, "odin-lsp");
  await writeFile(file, "#!/bin/sh\n");
  await chmod(file, 0o644);
  await expect(ServerProcess.start(file, [], undefined, asItIs)).rejects.toThrow("the file is not executable");
});

test("the end is told with the code and the last words", async () => {
  const script = 'console.error("one\\ntwo\\nno module named odin"); process.exit(3)';
  const started = await ServerProcess.start(NODE, ["-e", script], undefined, asItIs);
  const words = await started.ended;
  expect(words).toContain("code 3");
  expect(words).toContain("no module named odin");
  expect(await started.endedSoon()).toBe(words);
});

test("what it said is cleaned of secrets", async () => {
  const started = await ServerProcess.start(NODE, ["-e", 'console.error("key sk-1234 is wrong")'], undefined, (text) =>
    text.replace("sk-1234", "[hidden]"),
  );
  expect(await started.ended).toContain("key [hidden] is wrong");
});

test("a process that is killed says why", async () => {
  const started = await ServerProcess.start(NODE, ["-e", "setInterval(() => {}, 1000)"], undefined, asItIs);
  started.kill("It writes rubbish.");
  expect(await started.ended).toBe("It writes rubbish.");
});

test("the end is told although something that it has started keeps its pipes open", async () => {
  const script = `
    const { spawn } = require("node:child_process");
    const child = spawn(process.execPath, ["-e", "process.stdin.on('end', () => process.exit()); process.stdin.resume()"], { stdio: ["pipe", "inherit", "inherit"], detached: true });
    console.error(child.pid);
    process.exit(1);`;
  const started = await ServerProcess.start(NODE, ["-e", script], undefined, asItIs);
  expect(await started.ended).toContain("code 1");
});
