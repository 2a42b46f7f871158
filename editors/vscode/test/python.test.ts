import { expect, test } from "vitest";
import type { Uri } from "vscode";
import { Emitter } from "../src/emitter";
import { type PythonApi, SelectedPython } from "../src/server/python";

function scene(activate: (api: PythonApi) => Promise<PythonApi> = async (api) => api) {
  const changes = new Emitter<unknown>();
  const it = { selected: "/one/bin/python", told: 0, activations: 0 };
  const api: PythonApi = {
    environments: {
      getActiveEnvironmentPath: () => ({ path: it.selected }),
      resolveEnvironment: async ({ path }) => (path ? { executable: { uri: { fsPath: path } as Uri } } : undefined),
      onDidChangeActiveEnvironmentPath: changes.event,
    },
  };
  const extension = {
    activate: () => {
      it.activations += 1;
      return activate(api);
    },
  };
  const python = new SelectedPython(
    () => extension,
    () => {
      it.told += 1;
    },
  );
  return { it, python, change: () => changes.fire({}) };
}

test("the Python extension is left alone until somebody wants to know", () => {
  expect(scene().it.activations).toBe(0);
});

test("who has asked is told once when another environment is selected, until there is no interest", async () => {
  const { it, python, change } = scene();
  expect(await python.executable(undefined)).toBe("/one/bin/python");
  await python.executable(undefined);
  it.selected = "/two/bin/python";
  change();
  expect(it.told).toBe(1);
  expect(await python.executable(undefined)).toBe("/two/bin/python");
  python.dispose();
  change();
  expect(it.told).toBe(1);
});

test("an environment that is none, an extension that fails or is not there: no interpreter", async () => {
  const { it, python } = scene();
  it.selected = "";
  expect(await python.executable(undefined)).toBeUndefined();
  const failing = scene(async () => {
    throw new Error("not today");
  });
  expect(await failing.python.executable(undefined)).toBeUndefined();
  const absent = new SelectedPython(
    () => undefined,
    () => {},
  );
  expect(await absent.executable(undefined)).toBeUndefined();
});
