// Put the parts together. What takes time is imported when it is first used.

import type { ExtensionContext } from "vscode";

export function activate(_context: ExtensionContext): void {}
