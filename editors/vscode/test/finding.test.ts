import * as path from "node:path";
import { expect, test } from "vitest";
import { findServer, type Places } from "../src/server/finding";

function places(there: string[], more: Partial<Places> = {}): Places {
  return {
    configured: "",
    home: "/home/ada",
    selectedPython: async () => undefined,
    ownEnvironment: async () => "/storage/environment",
    searchPath: "/usr/bin:/opt/bin",
    isWindows: false,
    isExecutable: async (file) => there.includes(file),
    ...more,
  };
}

const OWN = ["/storage/environment/bin/odin-lsp", "/storage/environment/bin/python"];
const EVERYWHERE = ["/project/.venv/bin/odin-lsp", ...OWN, "/opt/bin/odin-lsp"];
const selectedPython = async (): Promise<string> => "/project/.venv/bin/python";

test("the setting comes before everything else", async () => {
  const found = await findServer(places([...EVERYWHERE, "/my/odin"], { configured: "/my/odin", selectedPython }));
  expect(found).toEqual({ kind: "found", command: "/my/odin", origin: "setting" });
});

test("then the selected Python environment, the extension's own, and the PATH", async () => {
  const origins = [];
  for (const there of [EVERYWHERE, EVERYWHERE.slice(1), EVERYWHERE.slice(3), []]) {
    const found = await findServer(places(there, { selectedPython }));
    origins.push(found.kind === "found" ? found.origin : found.kind);
  }
  expect(origins).toEqual(["python", "own", "path", "missing"]);
});

test("an environment of the extension's whose Python is gone is none", async () => {
  expect(await findServer(places(OWN.slice(0, 1)))).toEqual({ kind: "missing" });
});

test("a setting that is wrong is told and not passed over", async () => {
  const found = await findServer(places(EVERYWHERE, { configured: "/gone/odin-lsp" }));
  expect(found).toMatchObject({ kind: "misconfigured", why: expect.stringContaining("/gone/odin-lsp") });
});

test("a setting may be a name on the PATH, or begin in the home folder, but not be relative", async () => {
  const there = ["/opt/bin/odin-dev", "/home/ada/bin/odin-lsp", path.resolve("bin/odin-lsp")];
  const of = (configured: string): ReturnType<typeof findServer> => findServer(places(there, { configured }));
  expect(await of("odin-dev")).toMatchObject({ command: "/opt/bin/odin-dev" });
  expect(await of("~/bin/odin-lsp")).toMatchObject({ command: "/home/ada/bin/odin-lsp" });
  expect(await of("bin/odin-lsp")).toMatchObject({ kind: "misconfigured", why: expect.stringContaining("absolute") });
});

test("relative entries of the PATH, which may be anybody's workspace, are passed over", async () => {
  const found = await findServer(places(["odin-lsp", "bin/odin-lsp"], { searchPath: ".::bin:/usr/bin" }));
  expect(found).toEqual({ kind: "missing" });
});
