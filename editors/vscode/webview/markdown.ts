// Markdown of models, as elements that can do nothing: no HTML of their own, no images, no links but those we know.

import DOMPurify from "dompurify";
import MarkdownIt, { type Token } from "markdown-it";
import { leadsToWeb, mayNameFile, placeOf } from "../src/chat/links";
import { t } from "../src/l10n";
import { fitTexts, h, iconButton } from "./dom";
import { highlighted } from "./highlight";

const MAX_RENDERED = 200_000;
const TAGS = [
  ..."a blockquote br code del em h3 h4 hr li ol p pre s span strong".split(" "),
  ..."table tbody td th thead tr ul".split(" "),
];
const SHELLS = new Set(["bash", "console", "fish", "powershell", "pwsh", "sh", "shell", "shellsession", "zsh"]);
const CODE_CLASS = /^(hljs-[\w-]+|[\w-]+_)$/;

export interface MarkdownActions {
  copy(code: string): void;
  insert(code: string): void;
  /** Have it made a change of a file, which the user reviews. */
  apply(code: string, info: string): void;
  intoTerminal(command: string): void;
  openFile(path: string): void;
  openExternal(url: string): void;
  /** Learn which of these names are files; `linkFiles` is told. */
  findFiles(names: string[]): void;
  isFile(name: string): boolean;
}

const markdown = new MarkdownIt({ html: false, linkify: false, breaks: false });
markdown.validateLink = () => true;
// What the user said is a heading of the second level; what is answered stands below.
markdown.renderer.rules.heading_open = (tokens, index) => (isLarge(tokens[index]?.tag) ? "<h3>" : "<h4>");
markdown.renderer.rules.heading_close = (tokens, index) => (isLarge(tokens[index]?.tag) ? "</h3>\n" : "</h4>\n");
markdown.renderer.rules.image = (tokens, index) => {
  const token = tokens[index];
  const source = String(token?.attrGet("src") ?? "");
  return `<em>[${markdown.utils.escapeHtml(t("image: {0}", token?.content || source))}]</em>`;
};
markdown.renderer.rules.fence = markdown.renderer.rules.code_block = (tokens, index, _, env) => {
  const token = tokens[index];
  const code = token?.content ?? "";
  const info = token?.info.trim() ?? "";
  const language = languageOf(info);
  (env as { fences?: Fence[] } | undefined)?.fences?.push({ info, code });
  const inside = highlighted(code, language) ?? markdown.utils.escapeHtml(code);
  return `<pre><code>${inside}</code></pre>`;
};

/** A block of code as it was written, which is what is copied and applied, and what it says of itself. */
interface Fence {
  info: string;
  code: string;
}

const inlineCode = new MarkdownIt("zero").enable("backticks");

interface Block {
  source: string;
  nodes: Node[];
}

/** One text that may still grow: what comes before its last block is not looked at again. */
export class MarkdownView {
  readonly element = h("div", { class: "markdown" });
  #blocks: Block[] = [];
  #shown = "";
  /** Where the last block begins. */
  #last = 0;
  /** Of links, in what comes before the last block. */
  #references: Record<string, unknown> = {};

  constructor(private readonly actions: MarkdownActions) {}

  update(source: string): void {
    const text = source.replaceAll("\r\n", "\n");
    if (text === this.#shown) return;
    if (!text.startsWith(this.#shown) || text.length > MAX_RENDERED) this.#clear();
    this.#shown = text;
    if (text.length > MAX_RENDERED) {
      this.element.append(h("div", { class: "plain", text }));
      return;
    }
    const start = this.#last;
    const env = { references: { ...this.#references } };
    const sources = blocksOf(text.slice(start), env);
    const before = this.#blocks.pop();
    if (before && before.source === sources[0]) {
      this.#blocks.push(before);
      sources.shift();
    } else {
      for (const node of before?.nodes ?? []) node.parentNode?.removeChild(node);
    }
    for (const it of sources) this.#append(it, env);
    this.#last = text.length - (this.#blocks.at(-1)?.source.length ?? 0);
    if (this.#last > start) blocksOf(text.slice(start, this.#last), { references: this.#references });
  }

  /** Inline code that names a file leads to it. */
  linkFiles(nodes: readonly Node[] = [this.element]): void {
    for (const code of inlineCodeIn(nodes)) {
      const name = code.textContent ?? "";
      if (!code.closest("a") && this.actions.isFile(name)) {
        const link = this.#link(name, () => this.actions.openFile(name));
        code.replaceWith(link);
        link.append(code);
      }
    }
  }

  #append(source: string, env: Record<string, unknown>): void {
    const fences: Fence[] = [];
    const html = markdown.render(source, { ...env, fences });
    const nodes = [...this.#safe(html, fences).childNodes];
    this.#blocks.push({ source, nodes });
    this.element.append(...nodes);
    const names = inlineCodeIn(nodes).map((it) => it.textContent ?? "");
    const unknown = names.filter((it) => mayNameFile(it) && !this.actions.isFile(it));
    if (unknown.length > 0) this.actions.findFiles([...new Set(unknown)]);
    this.linkFiles(nodes);
  }

  #clear(): void {
    this.element.replaceChildren();
    this.#blocks = [];
    this.#last = 0;
    this.#references = {};
  }

  #safe(html: string, fences: readonly Fence[]): DocumentFragment {
    const fragment = sanitized(html, TAGS, ["class", "href", "start"]);
    for (const element of fragment.querySelectorAll("[class]")) {
      const names = [...element.classList].filter((it) => element.tagName === "SPAN" && CODE_CLASS.test(it));
      if (names.length > 0) element.className = names.join(" ");
      else element.removeAttribute("class");
    }
    for (const link of fragment.querySelectorAll("a")) this.#disarm(link);
    for (const [index, pre] of fragment.querySelectorAll("pre").entries())
      this.#frame(pre, fences[index] ?? { info: "", code: pre.textContent ?? "" });
    for (const table of fragment.querySelectorAll("table")) {
      const scroller = h("div", { class: "table", tabindex: "0", role: "region", "aria-label": t("Table") });
      table.replaceWith(scroller);
      scroller.append(table);
    }
    return fragment;
  }

  /** A link says where it leads; what leads nowhere we know is text. */
  #disarm(link: HTMLAnchorElement): void {
    const target = link.getAttribute("href") ?? "";
    const place = placeOf(target);
    let replacement: HTMLElement = h("span");
    if (leadsToWeb(target)) replacement = this.#link(target, () => this.actions.openExternal(target));
    else if (place) replacement = this.#link(target, () => this.actions.openFile(target));
    replacement.append(...link.childNodes);
    link.replaceWith(replacement);
  }

  #link(target: string, open: () => void): HTMLElement {
    const run = (event: Event) => {
      if (event instanceof KeyboardEvent && event.key !== "Enter") return;
      event.preventDefault();
      open();
    };
    return h("a", { role: "link", tabindex: "0", class: "link", title: target, on: { click: run, keydown: run } });
  }

  #frame(pre: HTMLPreElement, { info, code: written }: Fence): void {
    const code = () => written.replace(/\n$/, "");
    const copy = iconButton("copy", t("Copy code"), () => this.actions.copy(code()));
    const insert = iconButton("insert", t("Insert at cursor"), () => this.actions.insert(code()));
    const use = isCommand(languageOf(info), code())
      ? iconButton("terminal", t("Insert into terminal"), () => this.actions.intoTerminal(commandIn(code())))
      : iconButton("git-compare", t("Apply as a change to review"), () => this.actions.apply(code(), info));
    const frame = h("div", { class: "code" });
    pre.replaceWith(frame);
    pre.tabIndex = 0;
    pre.setAttribute("role", "region");
    pre.setAttribute("aria-label", t("Code"));
    frame.append(pre, h("div", { class: "code-actions" }, use, copy, insert));
  }
}

/** Words in which nothing but inline code, each within its line, is more than a word. */
export function withInlineCode(text: string): Node[] {
  const lines = text.split("\n").map((line) => inlineCode.renderInline(line));
  return [...sanitized(lines.join("\n"), ["code"], []).childNodes];
}

function sanitized(html: string, tags: string[], attributes: string[]): DocumentFragment {
  const fragment = DOMPurify.sanitize(html, {
    ALLOWED_TAGS: tags,
    ALLOWED_ATTR: attributes,
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    ALLOW_UNKNOWN_PROTOCOLS: true,
    RETURN_DOM_FRAGMENT: true,
  });
  fitTexts(fragment);
  return fragment;
}

/** The source of each top-level block, with the blank lines that follow it. */
function blocksOf(text: string, env: Record<string, unknown>): string[] {
  const tokens: Token[] = [];
  markdown.block.parse(text, markdown, env, tokens);
  const starts = tokens.filter((it) => it.level === 0 && it.nesting >= 0 && it.map).map((it) => it.map?.[0] ?? 0);
  const lines = text.split("\n");
  const bounds = [0, ...starts.slice(1), lines.length];
  const isLast = (end: number) => end === lines.length;
  return bounds.slice(1).map((end, index) => lines.slice(bounds[index], end).join("\n") + (isLast(end) ? "" : "\n"));
}

function inlineCodeIn(nodes: readonly Node[]): Element[] {
  const elements = nodes.filter((it): it is Element => it instanceof Element);
  const codes = elements.flatMap((it) => (it.tagName === "CODE" ? [it] : [...it.querySelectorAll("code")]));
  return codes.filter((it) => it.parentElement?.tagName !== "PRE");
}

function languageOf(info: string): string {
  return info.split(/[\s:]/)[0]?.toLowerCase() ?? "";
}

/** One line for a shell: of several a terminal would run all but the last at once. */
function isCommand(language: string, code: string): boolean {
  return SHELLS.has(language) && !code.trim().includes("\n");
}

function commandIn(code: string): string {
  return code.trim().replace(/^[$>%]\s+/, "");
}

function isLarge(tag: string | undefined): boolean {
  return tag === "h1" || tag === "h2";
}
