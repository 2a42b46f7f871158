// The environments that the extension makes for its server. One counts, and only once it is finished.

import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import * as path from "node:path";
import { t } from "../l10n";

/** A file with the name of the environment that counts. */
const CURRENT = "current";
/** Begins the names of files with the id of the process that is making an environment, which touches it again and again. */
const LOCK = "lock";
const BEAT_MS = 2000;
const SILENT_MS = 20_000;

export class Environments {
  constructor(private readonly root: string) {}

  /** The folder of the one that counts. */
  async current(): Promise<string | undefined> {
    const name = await readFile(this.#file(CURRENT), "utf8").catch(() => "");
    return name ? path.join(this.root, path.basename(name)) : undefined;
  }

  /** Make one that takes the place of the one that counts. Whatever happens before it is finished changes nothing. The
   * one that counted stays until the next time: another window may still run the server in it. */
  async renew(fill: (folder: string) => Promise<void>): Promise<void> {
    await mkdir(this.root, { recursive: true });
    const isDone = await this.#alone(async () => {
      await this.#sweep();
      const folder = await mkdtemp(path.join(this.root, "odin-"));
      try {
        await fill(folder);
        await writeFile(this.#file(`${CURRENT}.new`), path.basename(folder));
        await rename(this.#file(`${CURRENT}.new`), this.#file(CURRENT));
      } catch (error) {
        await remove(folder);
        throw error;
      }
    });
    if (!isDone) {
      throw new Error(t("Another window is installing Odin's server."));
    }
  }

  /** Remove those that do not count, such as what was left when VS Code was killed. */
  async #sweep(): Promise<void> {
    const current = await this.current();
    for (const entry of await readdir(this.root, { withFileTypes: true })) {
      const folder = path.join(this.root, entry.name);
      if (entry.isDirectory() && folder !== current) {
        await remove(folder);
      }
    }
  }

  /** Do it while no other process does something here; answers whether it was done. */
  async #alone(work: () => Promise<void>): Promise<boolean> {
    const lock = await this.#lock();
    if (!lock) {
      return false;
    }
    const beat = setInterval(() => utimes(lock, new Date(), new Date()).catch(() => {}), BEAT_MS);
    try {
      await work();
      return true;
    } finally {
      clearInterval(beat);
      await rm(lock, { force: true });
    }
  }

  /** The next number is free only once, so that of those who find a lock that nobody holds any more one takes its place.
   * Whoever comes late, with a number of before, finds the other one there. */
  async #lock(): Promise<string | undefined> {
    const before = await this.#locks();
    if (before.some((it) => it.isHeld)) {
      return undefined;
    }
    const mine = this.#file(`${LOCK}${Math.max(0, ...before.map((it) => it.number)) + 1}`);
    try {
      await writeFile(mine, String(process.pid), { flag: "wx" });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST") {
        return undefined;
      }
      throw error;
    }
    const others = (await this.#locks()).filter((it) => it.file !== mine);
    const isFirst = !others.some((it) => it.isHeld);
    await Promise.all((isFirst ? others.map((it) => it.file) : [mine]).map((it) => rm(it, { force: true })));
    return isFirst ? mine : undefined;
  }

  async #locks(): Promise<{ file: string; number: number; isHeld: boolean }[]> {
    const names = (await readdir(this.root)).filter((it) => it.startsWith(LOCK));
    return Promise.all(
      names.map(async (name) => {
        const file = this.#file(name);
        return { file, number: Number(name.slice(LOCK.length)) || 0, isHeld: await isHeld(file) };
      }),
    );
  }

  #file(name: string): string {
    return path.join(this.root, name);
  }
}

async function remove(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 3 }).catch(() => {}); // another time
}

/** Not if its process has ended, or another one has its id by now. One without an id is just being made. */
async function isHeld(lock: string): Promise<boolean> {
  try {
    const isSilent = Date.now() - (await stat(lock)).mtimeMs > SILENT_MS;
    const pid = await readFile(lock, "utf8");
    return !isSilent && (pid === "" || isAlive(Number(pid)));
  } catch {
    return false; // nobody is there any more
  }
}

function isAlive(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
