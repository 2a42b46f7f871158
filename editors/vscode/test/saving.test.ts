// `odin/save`: what VS Code says about documents that are saved for the server.

import { expect, it, vi } from "vitest";
import { save } from "../src/files";

const URI = "file:///p/a.ts";
const document = vi.hoisted(() => ({ uri: "file:///p/a.ts", isDirty: true, save: async () => false }));

vi.mock("vscode", () => ({
  Uri: { parse: (uri: string) => uri },
  workspace: { textDocuments: [document] },
}));

it("takes a document as saved that was saved meanwhile, and tells of one that was not", async () => {
  expect((await save({ uris: [URI] })).failed.map((it) => it.uri)).toEqual([URI]);

  document.save = async () => {
    document.isDirty = false; // by itself, after a delay: there is nothing left to save
    return false;
  };
  expect(await save({ uris: [URI] })).toEqual({ saved: [URI], failed: [] });
});
