// Starts the page inside of VS Code.

import "@vscode-elements/elements/dist/vscode-button/index.js";
import type { ToPage } from "../src/chat/messages";
import { App, type Saved } from "./app";

const vscode = acquireVsCodeApi<Saved>();
const app = new App(document.body, {
  post: (message) => vscode.postMessage(message),
  load: () => vscode.getState(),
  save: (saved) => vscode.setState(saved),
});
window.addEventListener("message", ({ data }: MessageEvent<ToPage>) => app.take(data));
