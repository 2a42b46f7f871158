// Edits go to Odin, where you review them. Odin makes those that you accept, and opencode is told what you decided.
import { spawn } from "node:child_process";

const EDITING = ["edit", "write", "multiedit", "patch", "apply_patch"];

function review(call) {
  return new Promise((resolve) => {
    const odin = spawn(PROGRAM, ["hook", "opencode"], { cwd: call.cwd, stdio: "pipe" });
    const said = { out: "", err: "" };
    odin.stdout.on("data", (data) => (said.out += data));
    odin.stderr.on("data", (data) => (said.err += data));
    odin.on("error", (error) => resolve(`Odin cannot be started (${error.message}); nothing was changed.`));
    odin.on("close", () => resolve(said.out || said.err || "Odin ended without an answer; nothing was changed."));
    odin.stdin.on("error", () => {});
    odin.stdin.end(JSON.stringify(call));
  });
}

export const Odin = async ({ directory }) => ({
  "tool.execute.before": async (input, output) => {
    if (EDITING.includes(input.tool)) {
      throw new Error(await review({ tool_name: input.tool, tool_input: output.args, cwd: directory }));
    }
  },
});
