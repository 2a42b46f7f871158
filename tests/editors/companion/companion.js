// Lets a test use VS Code's API: each line that comes is `{id, code, args}`, each that goes `{id, value}` or `{id, error}`.

const net = require("node:net");
const readline = require("node:readline");
const vscode = require("vscode");

const AsyncFunction = (async () => {}).constructor;

async function evaluate({ id, code, args }) {
  try {
    // What the window has already told comes before the answer to this: a test sees all that it typed.
    await vscode.commands.executeCommand("setContext", "companion.asked", id);
    return { id, value: await new AsyncFunction("vscode", "args", code)(vscode, args) };
  } catch (error) {
    return { id, error: String(error?.stack ?? error) };
  }
}

exports.activate = (context) => {
  const socket = net.connect(Number(process.env.COMPANION_PORT), "127.0.0.1");
  socket.on("error", () => socket.destroy());
  readline.createInterface({ input: socket }).on("line", async (line) => {
    const answer = await evaluate(JSON.parse(line));
    if (socket.writable) socket.write(`${JSON.stringify(answer)}\n`);
  });
  context.subscriptions.push({ dispose: () => socket.destroy() });
};
