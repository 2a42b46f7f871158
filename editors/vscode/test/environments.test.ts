import { access, mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Environments } from "../src/server/environments";

let root = "";
let environments: Environments;

beforeEach(async () => {
  root = path.join(await mkdtemp(path.join(tmpdir(), "odin-")), "environments");
  environments = new Environments(root);
});

afterEach(async () => {
  await rm(path.dirname(root), { recursive: true, force: true });
});

async function renew(): Promise<string> {
  await environments.renew((folder) => writeFile(path.join(folder, "made"), ""));
  return (await environments.current()) as string;
}

test("one counts from the moment it is finished", async () => {
  expect(await environments.current()).toBeUndefined();
  await environments.renew(async () => expect(await environments.current()).toBeUndefined());
  const first = (await environments.current()) as string;
  await environments.renew(async () => expect(await environments.current()).toBe(first));
  expect(await environments.current()).not.toBe(first);
});

test("the one before stays, since another window may use it, and the one before that goes", async () => {
  await renew();
  const [second, third] = [await renew(), await renew()];
  expect((await readdir(root)).sort()).toEqual(["current", ...[second, third].map((it) => path.basename(it)).sort()]);
});

test("one that cannot be finished leaves the other as it was", async () => {
  const first = await renew();
  const failing = environments.renew(async (folder) => {
    await writeFile(path.join(folder, "half"), "");
    throw new Error("the disk is full");
  });
  await expect(failing).rejects.toThrow("the disk is full");
  expect(await environments.current()).toBe(first);
  expect((await readdir(root)).sort()).toEqual(["current", path.basename(first)]);
});

test("while one is made, no other is, and nothing is removed", async () => {
  await environments.renew(async (folder) => {
    await expect(renew()).rejects.toThrow("Another window");
    await access(folder);
  });
});

test("who was killed while making one is in nobody's way", async () => {
  await mkdir(path.join(root, "odin-half"), { recursive: true });
  const ended = 2 ** 22 + 1; // no process has such an id
  await writeFile(path.join(root, "lock"), String(ended));
  const made = await renew();
  expect((await readdir(root)).sort()).toEqual(["current", path.basename(made)]);
});

test("a process that has by chance the id of one that was killed is no reason to wait", async () => {
  await mkdir(root);
  const lock = path.join(root, "lock");
  await writeFile(lock, String(process.pid));
  await expect(renew()).rejects.toThrow("Another window");
  const longAgo = new Date(Date.now() - 60_000);
  await utimes(lock, longAgo, longAgo);
  await renew();
  await expect(readFile(lock)).rejects.toThrow();
});

test("of many that find a lock that nobody holds any more one at a time makes an environment", async () => {
  await mkdir(root);
  await writeFile(path.join(root, "lock"), String(2 ** 22 + 1));
  let [working, most, made] = [0, 0, 0];
  const attempts = Array.from({ length: 12 }, () =>
    new Environments(root).renew(async () => {
      working += 1;
      most = Math.max(most, working);
      await new Promise((resolve) => setTimeout(resolve, 5));
      working -= 1;
      made += 1;
    }),
  );
  await Promise.allSettled(attempts);
  expect(most).toBe(1);
  expect(made).toBeGreaterThan(0);
});

test("what names an environment elsewhere leads nowhere else", async () => {
  await mkdir(root);
  await writeFile(path.join(root, "current"), "../../elsewhere");
  expect(await environments.current()).toBe(path.join(root, "elsewhere"));
});
