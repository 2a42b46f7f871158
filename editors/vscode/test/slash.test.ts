import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { ownCommand, slashCompletions } from "../src/chat/slash";
import type { SlashCommand } from "../src/protocol";

const COMMANDS: SlashCommand[] = [
  { name: "compact", kind: "builtin", description: "Make it shorter", hint: "[focus]", how: "answer" },
  { name: "git:commit", kind: "command", description: "Commit", hint: "", how: "says" },
];

describe("a message with a slash", () => {
  it("is for VS Code where it has a dialog or shows the session, and else for the server", () => {
    const told = ["/new", "/new A title", "/model", "/model offline/odin", "/compact", "/newer", "what is /new"];
    expect(told.map(ownCommand)).toEqual([
      "odin.vscode.newSession",
      "odin.vscode.newSession",
      "odin.vscode.selectModel",
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it("leads to commands that there are", () => {
    const manifest = JSON.parse(readFileSync("package.json", "utf8"));
    const known = new Set(manifest.contributes.commands.map((it: { command: string }) => it.command));
    const names = "clear continue new resume context export extensions model permissions role trust".split(" ");
    expect(names.filter((it) => !known.has(ownCommand(`/${it}`)))).toEqual([]);
  });

  it("is completed by any part of its name", () => {
    expect(slashCompletions(COMMANDS, "").map((it) => it.word)).toEqual(["compact", "git:commit"]);
    expect(slashCompletions(COMMANDS, "comm")).toEqual([{ word: "git:commit", detail: "Commit", icon: "command" }]);
  });
});
