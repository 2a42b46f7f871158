import { afterEach, beforeEach, expect, it, vi } from "vitest";

const { fake, change } = vi.hoisted(() => {
  const listeners: (() => void)[] = [];
  const listen = (listener: () => void): { dispose(): void } => {
    listeners.push(listener);
    return { dispose: () => listeners.splice(listeners.indexOf(listener), 1) };
  };
  const window = {
    activeTextEditor: undefined as unknown,
    onDidChangeActiveTextEditor: listen,
    onDidChangeTextEditorSelection: listen,
  };
  const change = (scheme: string, path: string): void => {
    const uri = { scheme, path, toString: () => `${scheme}://${path}` };
    window.activeTextEditor = { document: { uri, version: 1 }, selection: { isEmpty: true } };
    listeners[0]?.();
  };
  return { fake: { window }, change };
});
vi.mock("vscode", () => fake);

import { LOOK_PAUSE_MS, Looking } from "../src/chat/looking";

let told: (string | undefined)[];
let looking: Looking;

beforeEach(() => {
  vi.useFakeTimers();
  told = [];
  looking = new Looking((looked) => told.push(looked?.label));
});

afterEach(() => {
  looking.dispose();
  vi.useRealTimers();
});

it("tells what was looked at last, once nothing changes any more", () => {
  change("file", "/a.py");
  change("file", "/b.py");
  expect(told).toEqual([]);
  vi.advanceTimersByTime(LOOK_PAUSE_MS);
  expect(told).toEqual(["b.py"]);
});

it("tells what it was when it changed, though a comment is written by then", () => {
  change("file", "/a.py");
  change("comment", "/box");
  vi.advanceTimersByTime(LOOK_PAUSE_MS);
  looking.tellNow();
  expect(told).toEqual(["a.py"]);
});
