import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { expect, test } from "vitest";
import { findServer, isWithin, type Places } from "../src/server/finding";

function places(there: string[], more: Partial<Places> = {}): Places {
  return {
    configured: "",
    home: "/home/ada",
    selectedPython: async () => undefined,
    ownEnvironment: async () => "/storage/environment",
    searchPath: "/usr/bin:/opt/bin",
    isWindows: false,
    isExecutable: async (file) => there.includes(file),
    isOfWorkspace: async () => false,
    onPassedOver: () => {},
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

test("a server inside the workspace, which would get all keys, is never taken", async () => {
  const passedOver: string[] = [];
  const inWorkspace = (file: string): boolean => file.startsWith("/project/");
  const origins = [];
  for (const there of [EVERYWHERE, ["/project/.venv/bin/odin-lsp", "/project/bin/odin-lsp", "/opt/bin/odin-lsp"]]) {
    const found = await findServer(
      places(there, {
        selectedPython,
        searchPath: "/project/bin:/opt/bin",
        isOfWorkspace: async (file) => inWorkspace(file),
        onPassedOver: (file) => passedOver.push(file),
      }),
    );
    origins.push(found.kind === "found" ? `${found.origin} ${found.command}` : found.kind);
  }
  expect(origins).toEqual(["own /storage/environment/bin/odin-lsp", "path /opt/bin/odin-lsp"]);
  expect(passedOver).toEqual(["/project/.venv/bin/odin-lsp", "/project/.venv/bin/odin-lsp", "/project/bin/odin-lsp"]);
});

test("the user's own setting may name a file of the workspace, but no name that leads to one", async () => {
  const there = ["/project/bin/odin-lsp"];
  const more = { searchPath: "/project/bin", isOfWorkspace: async (): Promise<boolean> => true };
  expect(await findServer(places(there, { ...more, configured: "/project/bin/odin-lsp" }))).toMatchObject({
    origin: "setting",
  });
  expect(await findServer(places(there, { ...more, configured: "odin-lsp" }))).toMatchObject({ kind: "misconfigured" });
});

test("what is in the workspace is known by where it is and by where it leads", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "odin-finding-"));
  const at = (...names: string[]): string => path.join(folder, ...names);
  try {
    for (const name of ["project/bin", "project-2", "outside", "linked"]) {
      await mkdir(at(name), { recursive: true });
    }
    for (const name of ["project/bin/odin-lsp", "project-2/odin-lsp", "outside/odin-lsp"]) {
      await writeFile(at(name), "");
    }
    await symlink(at("project/bin/odin-lsp"), at("linked/file"));
    await symlink(at("project/bin"), at("linked/folder"));
    await symlink(at("outside/odin-lsp"), at("project/bin/leads-out"));
    await symlink(at("project"), at("workspace"));
    const found = [];
    for (const file of [
      "project/bin/odin-lsp",
      "project/bin/leads-out",
      "linked/file",
      "linked/folder/odin-lsp",
      "workspace/bin/odin-lsp",
      "outside/odin-lsp",
      "project-2/odin-lsp",
    ]) {
      found.push(await isWithin(at(file), [at("workspace")]));
    }
    expect(found).toEqual([true, true, true, true, true, false, false]);
    expect(await isWithin(at("outside/odin-lsp"), [])).toBe(false);
  } finally {
    await rm(folder, { recursive: true });
  }
});
