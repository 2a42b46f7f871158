// Elements without markup in strings. What is shown of them is made fit for it here, whoever has written it.

import { readable } from "../src/chat/text";
import { decoded } from "../src/session/reviews";

type Child = Node | string | undefined | false;

interface Properties {
  class?: string;
  text?: string;
  on?: Partial<Record<string, (event: Event) => void>>;
  [attribute: string]: unknown;
}

/** Attributes that are shown or read out. */
const SHOWN = new Set(["alt", "aria-label", "placeholder", "title"]);

/** An element with attributes (`true` is an empty one, `false` and `undefined` none), listeners and children. */
export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  { text, on, ...attributes }: Properties = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) setAttribute(element, name, value === true ? "" : String(value));
  }
  for (const [name, listener] of Object.entries(on ?? {})) {
    if (listener) element.addEventListener(name, listener);
  }
  if (text !== undefined) setText(element, text);
  element.append(...children.filter((it): it is Node | string => it !== undefined && it !== false).map(fit));
  return element;
}

export function setText(element: Element, text: string): void {
  element.textContent = readable(text);
}

export function setAttribute(element: Element, name: string, value: string): void {
  element.setAttribute(name, SHOWN.has(name) ? readable(value) : value);
}

export function textNode(text: string): Text {
  return document.createTextNode(readable(text));
}

/** Make all text below it fit to be shown. */
export function fitTexts(root: Node): void {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let it = walker.nextNode() as Text | null; it; it = walker.nextNode() as Text | null) {
    const text = readable(it.data);
    if (text !== it.data) it.data = text;
  }
}

function fit(child: Node | string): Node | string {
  return typeof child === "string" ? readable(child) : child;
}

/** Have these inside, in this order. What is there already stays where it is, with its focus and what is written in it. */
export function arrange(parent: Element, children: readonly Element[]): void {
  const wanted = new Set(children);
  for (const child of [...parent.children]) if (!wanted.has(child)) child.remove();
  for (const [index, child] of children.entries()) {
    const there = parent.children[index];
    if (there !== child) parent.insertBefore(child, there ?? null);
  }
}

/** Draws what it is given, unless that is what it has drawn last. */
export class Drawn {
  #shown: string | undefined;

  constructor(readonly element: HTMLElement) {}

  show(what: unknown, draw: () => (Node | string)[]): void {
    const shown = JSON.stringify(what) ?? "";
    if (shown === this.#shown) return;
    this.#shown = shown;
    this.element.replaceChildren(...draw().map(fit));
  }
}

export function icon(name: string, more = ""): HTMLElement {
  return h("span", { class: `codicon codicon-${name} ${more}`.trim(), "aria-hidden": "true" });
}

/** A button that is an icon; its name is read out and shown when pointed at. */
export function iconButton(name: string, label: string, run: () => void): HTMLButtonElement {
  const button = { type: "button", class: "icon-button", "aria-label": label, title: label, on: { click: run } };
  return h("button", button, icon(name));
}

/** VS Code's own button. */
export function button(label: string, run: () => void, kind: "primary" | "secondary" = "secondary"): HTMLElement {
  const element = document.createElement("vscode-button");
  setText(element, label);
  if (kind === "secondary") element.setAttribute("secondary", "");
  element.addEventListener("click", run);
  return element;
}

export function fileName(uri: string): string {
  return decoded(uri.slice(uri.lastIndexOf("/") + 1));
}
