// The Python environment that is selected in the Python extension.

import type { Disposable, Event, Extension, Uri } from "vscode";

/** As far as it is used here: https://github.com/microsoft/vscode-python/wiki/Python-Environment-APIs */
export interface PythonApi {
  environments: {
    getActiveEnvironmentPath(resource?: Uri): { path: string };
    resolveEnvironment(environment: { path: string }): Promise<{ executable: { uri?: Uri } } | undefined>;
    onDidChangeActiveEnvironmentPath: Event<unknown>;
  };
}

export class SelectedPython {
  #listening: Disposable | undefined;

  constructor(
    private readonly extension: () => Pick<Extension<PythonApi>, "activate"> | undefined,
    private readonly onChange: () => void,
  ) {}

  /** The interpreter for a folder. Who has asked once is told when another is selected. */
  async executable(folder: Uri | undefined): Promise<string | undefined> {
    try {
      const api = await this.extension()?.activate();
      if (!api) {
        return undefined;
      }
      this.#listening ??= api.environments.onDidChangeActiveEnvironmentPath(() => this.onChange());
      const selected = api.environments.getActiveEnvironmentPath(folder);
      return (await api.environments.resolveEnvironment(selected))?.executable.uri?.fsPath;
    } catch {
      return undefined; // another extension's trouble
    }
  }

  dispose(): void {
    this.#listening?.dispose();
  }
}
