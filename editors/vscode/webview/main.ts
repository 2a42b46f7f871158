// Starts the page inside of VS Code.

import "@vscode-elements/elements/dist/vscode-button/index.js";
import type { ToPage } from "../src/chat/messages";
import { speak } from "../src/l10n";
import { App, type Saved } from "./app";

speak(JSON.parse(document.body.dataset.texts ?? "{}"), document.documentElement.lang);
const vscode = acquireVsCodeApi<Saved>();
const app = new App(document.body, {
  post: (message) => vscode.postMessage(message),
  load: () => vscode.getState(),
  save: (saved) => vscode.setState(saved),
});
window.addEventListener("message", ({ data }: MessageEvent<ToPage>) => app.take(data));
