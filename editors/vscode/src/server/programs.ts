// Programs that are run to their end, or ended with all that they have started.

import { type ChildProcess, spawn } from "node:child_process";
import * as path from "node:path";
import { createInterface } from "node:readline";

export interface Run {
  env: NodeJS.ProcessEnv;
  signal: AbortSignal;
  onLine(line: string): void;
}

/** Settles when it has ended, and whatever it has started, with its code. */
export function run(program: string, parameters: readonly string[], { env, signal, onLine }: Run): Promise<number> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const isWindows = process.platform === "win32";
    const child = spawn(program, parameters, {
      env,
      cwd: path.parse(process.execPath).root, // not the workspace, in which anybody's programs may lie
      stdio: ["ignore", "pipe", "pipe"],
      windowsHide: true,
      detached: !isWindows, // a group of its own, which can be ended as a whole
    });
    for (const input of [child.stdout, child.stderr]) {
      createInterface({ input }).on("line", onLine);
    }
    const end = (): void => endAll(child, isWindows);
    signal.addEventListener("abort", end, { once: true });
    child.once("error", reject);
    child.once("close", (code) => {
      signal.removeEventListener("abort", end);
      signal.aborted ? reject(signal.reason) : resolve(code ?? 1);
    });
  });
}

function endAll(child: ChildProcess, isWindows: boolean): void {
  if (child.pid === undefined) {
    return;
  }
  if (isWindows) {
    spawn("taskkill", ["/pid", String(child.pid), "/t", "/f"], { windowsHide: true }).once("error", () => child.kill());
    return;
  }
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // it has just ended
  }
}
