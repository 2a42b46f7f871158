// The environments that the extension makes for its server. One counts, and only once it is finished.

import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import * as path from "node:path";

/** A file with the name of the environment that counts. */
const CURRENT = "current";
/** A file with the id of the process that is making an environment, which touches it again and again. */
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
      throw new Error("Another window is installing Odin's server.");
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
    if (await this.#isAbandoned()) {
      await rm(this.#file(LOCK), { force: true });
    }
    try {
      await writeFile(this.#file(LOCK), String(process.pid), { flag: "wx" });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST") {
        return false;
      }
      throw error;
    }
    const beat = setInterval(() => utimes(this.#file(LOCK), new Date(), new Date()).catch(() => {}), BEAT_MS);
    try {
      await work();
      return true;
    } finally {
      clearInterval(beat);
      await rm(this.#file(LOCK), { force: true });
    }
  }

  /** Its process has ended, or another one has its id by now. */
  async #isAbandoned(): Promise<boolean> {
    try {
      const touched = (await stat(this.#file(LOCK))).mtimeMs;
      return !isAlive(Number(await readFile(this.#file(LOCK), "utf8"))) || Date.now() - touched > SILENT_MS;
    } catch {
      return false; // nobody is there
    }
  }

  #file(name: string): string {
    return path.join(this.root, name);
  }
}

async function remove(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 3 }).catch(() => {}); // another time
}

function isAlive(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
