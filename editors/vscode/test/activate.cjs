// Activates the extension in a plain Node, with a `vscode` that answers everything with nothing, and writes what it saw.
// `node activate.cjs BUNDLE`: {ms, emptyMs, loaded, commands}; milliseconds are those of the processor.

const Module = require("node:module");

/** VS Code has them loaded long before. */
for (const name of ["child_process", "crypto", "fs/promises", "os", "path", "readline", "util"])
  require(`node:${name}`);

const loaded = [];
const commands = [];

/** Something that can be called, built, read and walked through, and has no value. */
function anything() {
  return new Proxy(function nothing() {}, {
    get: (_, name) => {
      if (name === "then") return undefined;
      if (name === Symbol.iterator) return [][Symbol.iterator].bind([]);
      if (name === Symbol.toPrimitive) return () => "";
      if (name === "prototype") return {};
      return anything();
    },
    set: () => true,
    apply: () => anything(),
    construct: () => anything(),
  });
}

const registering = {
  registerCommand: (name) => {
    commands.push(name);
    return { dispose() {} };
  },
  executeCommand: async () => undefined,
};
const particular = {
  commands: registering,
  window: new Proxy(
    {},
    { get: (_, name) => (name === "activeTextEditor" ? undefined : name === "visibleTextEditors" ? [] : anything()) },
  ),
};
const vscode = new Proxy(particular, {
  get: (_, name) => particular[name] ?? anything(),
});
const load = Module._load;
Module._load = (request, ...rest) => {
  loaded.push(request);
  return request === "vscode" ? vscode : load(request, ...rest);
};

const context = {
  subscriptions: [],
  extension: { packageJSON: {} },
  extensionPath: "",
  extensionUri: anything(),
  globalStorageUri: anything(),
  secrets: { get: async () => undefined, onDidChange: () => ({ dispose() {} }) },
  globalState: { get: () => undefined, update: async () => {} },
  workspaceState: { get: () => undefined, update: async () => {} },
};

function milliseconds(work) {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

const emptyMs = milliseconds(() => require("./empty.cjs"));
loaded.length = 0;
const ms = milliseconds(() => require(process.argv[2]).activate(context));
process.stdout.write(JSON.stringify({ ms, emptyMs, loaded, commands: commands.sort() }));
process.exit(0);
