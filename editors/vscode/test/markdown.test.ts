// @vitest-environment jsdom
// Answers as they are shown: Markdown with code and links to files, and nothing that a hostile one could do.

import { beforeEach, describe, expect, it } from "vitest";
import { exact, readable } from "../src/chat/text";
import { type MarkdownActions, MarkdownView } from "../webview/markdown";

let opened: string[];
let copied: string[];
let files: Set<string>;
let view: MarkdownView;
let actions: MarkdownActions;

beforeEach(() => {
  opened = [];
  copied = [];
  files = new Set();
  actions = {
    copy: (code) => copied.push(code),
    insert: (code) => copied.push(`insert ${code}`),
    apply: (code, info) => copied.push(`apply ${info}: ${code}`),
    intoTerminal: (command) => copied.push(`run ${command}`),
    openFile: (path) => opened.push(`file ${path}`),
    openExternal: (url) => opened.push(`web ${url}`),
    findFiles: () => {},
    isFile: (name) => files.has(name),
  };
  view = new MarkdownView(actions);
  document.body.replaceChildren(view.element);
});

const ALLOWED = new Set(
  "a blockquote br button code del div em h1 h2 h3 h4 h5 h6 hr li ol p pre s span strong table tbody td th thead tr ul"
    .toUpperCase()
    .split(" "),
);
const ATTRIBUTES = new Set(["class", "role", "tabindex", "title", "aria-label", "aria-hidden", "type", "start"]);

/** Every element and attribute is one of ours, and nothing has an address that could be loaded. */
function expectInert(): void {
  for (const element of view.element.querySelectorAll("*")) {
    expect(ALLOWED).toContain(element.tagName);
    for (const { name } of element.attributes) expect(ATTRIBUTES).toContain(name);
  }
}

const HOSTILE = [
  "<script>parent.hacked = 1</script>",
  "<img src=x onerror='hacked = 1'>",
  "<svg onload=hacked=1><a xlink:href='javascript:hacked=1'>x</a></svg>",
  "<iframe src='https://evil.example'></iframe><style>*{display:none}</style><base href='https://evil.example'>",
  "<form action='https://evil.example'><input name=key></form><math><mtext></form><form><mglyph><style></math><img src onerror=hacked=1>",
  "[a](javascript:hacked=1) [b](command:workbench.action.terminal.new) [c](data:text/html,<script>hacked=1</script>)",
  "[d](vscode://evil/x) [e](file:///etc/passwd) [f](vbscript:x) [g](JaVaScRiPt:hacked=1) [h](//evil.example/x)",
  "![pixel](https://evil.example/pixel.png) ![data](data:image/png;base64,AAAA) ![](https://evil.example/2.png)",
  "<javascript:hacked=1> <https://evil.example/auto>",
  "```js\"><script>hacked=1</script>\nlet a = '</code></pre><img src=x onerror=hacked=1>'\n```",
  "| a |\n| - |\n| <img src=x onerror=hacked=1> |",
  "[x]: javascript:hacked=1\n\n[x] and [ref][x]",
  '<details ontoggle=hacked=1 open>x</details> &lt;script&gt; <a href="javascript:hacked=1" style="position:fixed">y</a>',
];

describe("a hostile answer", () => {
  it.each(HOSTILE)("is inert: %s", (source) => {
    view.update(source);
    expectInert();
    for (const link of view.element.querySelectorAll<HTMLElement>("a")) link.click();
    expect(opened.filter((it) => !/^web https:\/\/evil\.example\//.test(it))).toEqual([]);
    expect("hacked" in globalThis).toBe(false);
  });

  it("is inert when it comes in pieces", () => {
    const whole = HOSTILE.join("\n\n");
    for (let end = 0; end < whole.length; end += 97) view.update(whole.slice(0, end));
    view.update(whole);
    expectInert();
  });

  it("cannot hide or turn text around, nor speak to a terminal", () => {
    view.update("safe \u202etxt.exe \u001b]0;title\u0007\u001b[31mred\u001b[0m \u0000 zero\u200bwidth \u{e0041}");
    expect(view.element.textContent?.trim()).toBe("safe ⟨U+202E⟩txt.exe red \ufffd zero⟨U+200B⟩width ⟨U+E0041⟩");
  });

  it("may be a line of a million letters", () => {
    view.update("x".repeat(1_000_000));
    expect(view.element.textContent).toHaveLength(1_000_000);
  });
});

describe("links", () => {
  it("lead to files and their lines", () => {
    view.update("[here](src/a.ts#L3) and [there](src/b.ts:12)");
    for (const link of view.element.querySelectorAll("a")) link.click();
    expect(opened).toEqual(["file src/a.ts#L3", "file src/b.ts:12"]);
  });

  it("tell the address they lead to, and open by the keyboard", () => {
    view.update("[good](https://example.org/docs)");
    const link = view.element.querySelector("a");
    expect(link?.title).toBe("https://example.org/docs");
    expect(link?.hasAttribute("href")).toBe(false);
    link?.dispatchEvent(new KeyboardEvent("keydown", { key: "Tab" }));
    expect(opened).toEqual([]);
    link?.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }));
    expect(opened).toEqual(["web https://example.org/docs"]);
  });

  it("are made of inline code that names a file, once that is known", () => {
    view.update("see `src/a.ts:3` and `not_a.file`");
    expect(view.element.querySelector("a")).toBeNull();
    files.add("src/a.ts:3");
    view.linkFiles();
    view.linkFiles();
    expect([...view.element.querySelectorAll("a")].map((it) => it.textContent)).toEqual(["src/a.ts:3"]);
  });
});

describe("code", () => {
  const clickAll = () => {
    for (const button of view.element.querySelectorAll("button")) button.click();
  };

  it("is coloured, and can be applied, copied and inserted", () => {
    view.update("```python src/a.py\ndef f():\n    return '<b>'\n```");
    expect(view.element.querySelector(".hljs-keyword")?.textContent).toBe("def");
    clickAll();
    const code = "def f():\n    return '<b>'";
    expect(copied).toEqual([`apply python src/a.py: ${code}`, code, `insert ${code}`]);
  });

  it("of one line for a shell goes into the terminal; of several lines nothing is run", () => {
    view.update("```sh\n$ make test\n```\n\n```sh\nmake\nmake test\n```");
    clickAll();
    expect(copied.filter((it) => it.startsWith("run "))).toEqual(["run make test"]);
    expect(copied).toContain("apply sh: make\nmake test");
  });
});

describe("growing text", () => {
  it("leaves blocks alone that have not changed", () => {
    view.update("# Title\n\nFirst.\n\nSec");
    const [title, first] = view.element.children;
    view.update("# Title\n\nFirst.\n\nSecond.\n\n- a\n- b");
    expect(view.element.children[0]).toBe(title);
    expect(view.element.children[1]).toBe(first);
    expect(view.element.textContent?.replaceAll(/\s+/g, " ").trim()).toBe("Title First. Second. a b");
  });

  it("ends as if it had come at once", () => {
    const whole =
      "Intro\n\n1. a\n\n   b\n2. c\n\n> quote\n\n```js\nlet x\n\nlet y\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n[r]: src/x.ts\n\nsee [r]";
    for (let end = 0; end <= whole.length; end += 1) view.update(whole.slice(0, end));
    const grown = view.element.innerHTML;
    const other = new MarkdownView(actions);
    other.update(whole);
    expect(grown).toBe(other.element.innerHTML);
  });
});

describe("text", () => {
  it("is readable with emoji and other scripts", () => {
    expect(readable("👩‍💻 می‌خواهم ❤️\ttab\nline")).toBe("👩‍💻 می‌خواهم ❤️\ttab\nline");
  });

  it("is shown exactly where it is to be decided on", () => {
    expect(exact("rm\u00a0-rf\u200d \u202e/\u001b[8m x\n")).toEqual([
      { text: "rm", isMarked: false },
      { text: "⟨U+00A0⟩", isMarked: true },
      { text: "-rf", isMarked: false },
      { text: "⟨U+200D⟩", isMarked: true },
      { text: " ", isMarked: false },
      { text: "⟨U+202E⟩", isMarked: true },
      { text: "/", isMarked: false },
      { text: "␛", isMarked: true },
      { text: "[8m x\n", isMarked: false },
    ]);
  });
});
