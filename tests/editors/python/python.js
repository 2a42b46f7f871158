// Stands in for Microsoft's Python extension: its id, and as much of its API as there is about environments.
// https://github.com/microsoft/vscode-python/blob/main/pythonExtensionApi/src/main.ts

const { access, constants } = require("node:fs/promises");
const path = require("node:path");
const vscode = require("vscode");

const byPath = (environment) => (typeof environment === "string" ? environment : environment.path);
const described = (file) => {
  const folder = path.dirname(path.dirname(file));
  return {
    id: file,
    path: file,
    executable: { uri: vscode.Uri.file(file), bitness: "64-bit", sysPrefix: folder },
    environment: {
      type: "VirtualEnvironment",
      name: path.basename(folder),
      folderUri: vscode.Uri.file(folder),
      workspaceFolder: undefined,
    },
    version: { major: 3, minor: 11, micro: 0, release: { level: "final", serial: 0 }, sysVersion: "3.11.0" },
    tools: ["Venv"],
  };
};

exports.activate = (context) => {
  const selections = new vscode.EventEmitter();
  const environments = new vscode.EventEmitter();
  const variables = new vscode.EventEmitter();
  let selected = vscode.workspace.getConfiguration("python").get("defaultInterpreterPath");
  context.subscriptions.push(selections, environments, variables);
  return {
    ready: Promise.resolve(),
    environments: {
      known: [],
      onDidChangeEnvironments: environments.event,
      onDidChangeActiveEnvironmentPath: selections.event,
      onDidEnvironmentVariablesChange: variables.event,
      getEnvironmentVariables: () => ({ ...process.env }),
      refreshEnvironments: async () => {},
      getActiveEnvironmentPath: () => ({ id: selected, path: selected }),
      async updateActiveEnvironmentPath(environment) {
        selected = byPath(environment);
        selections.fire({ id: selected, path: selected, resource: vscode.workspace.workspaceFolders?.[0] });
      },
      async resolveEnvironment(environment) {
        const file = byPath(environment);
        const isThere = await access(file, constants.X_OK).then(
          () => true,
          () => false,
        );
        return isThere ? described(file) : undefined;
      },
    },
  };
};
