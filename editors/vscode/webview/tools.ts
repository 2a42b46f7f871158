// A tool that was used: one line, and behind it what it put out or changed.

import { t } from "../src/l10n";
import type { ToolItem } from "../src/session/state";
import { secondsOf } from "../src/words";
import { fileName, h, icon } from "./dom";

const ICONS: Partial<Record<string, string>> = {
  CommandStatus: "terminal",
  DeleteFile: "trash",
  EditTool: "edit",
  ExecuteCommand: "terminal",
  Glob: "search",
  Grep: "search",
  LS: "folder",
  Lookup: "search",
  Memory: "bookmark",
  MoveFile: "arrow-right",
  MultiEditTool: "edit",
  Read: "file",
  Refactor: "edit",
  ReplaceInFiles: "edit",
  WebFetch: "globe",
  WriteFile: "new-file",
};
/** Of these the result says it all. */
function doneWith(tool: string, result: string): string | undefined {
  const done: Partial<Record<string, string>> = {
    DeleteFile: t("Deleted {0}", result),
    EditTool: t("Edited {0}", result),
    MoveFile: t("Moved {0}", result),
    MultiEditTool: t("Edited {0}", result),
    Read: t("Read {0}", result),
    ReplaceInFiles: t("Edited {0}", result),
    WriteFile: t("Wrote {0}", result),
  };
  return done[tool];
}

function statusName(status: ToolItem["status"]): string {
  return {
    queued: t("waiting"),
    running: t("running"),
    success: "",
    error: t("failed"),
    cancelled: t("canceled"),
  }[status];
}

const SIGNS: Partial<Record<ToolItem["status"], string>> = { queued: "watch", running: "loading", error: "error" };

export class ToolView {
  readonly element = h("details", { class: "tool fold" });
  #summary = h("summary");

  constructor(private readonly openFile: (path: string) => void) {
    this.#summary.addEventListener("click", (event) => {
      if (!this.element.classList.contains("has-more")) event.preventDefault();
    });
    this.element.append(this.#summary);
  }

  update(item: ToolItem): void {
    const more = this.#more(item);
    this.element.dataset.status = item.status;
    this.element.classList.toggle("has-more", more.length > 0);
    const name = SIGNS[item.status];
    const sign = icon(name ?? ICONS[item.name] ?? "tools", name === "loading" ? "codicon-modifier-spin" : "");
    const { title, detail } = words(item);
    const status = statusName(item.status);
    this.#summary.replaceChildren(
      sign,
      h("span", { class: "tool-title", title: item.title || title }, ...withPath(title)),
      h("span", { class: "tool-detail", text: detail }),
      item.added > 0 ? h("span", { class: "added", text: `+${item.added}` }) : "",
      item.removed > 0 ? h("span", { class: "removed", text: `−${item.removed}` }) : "",
      status ? h("span", { class: "visually-hidden", text: `(${status})` }) : "",
      more.length > 0 ? icon("chevron-right", "fold-sign") : "",
    );
    this.element.replaceChildren(this.#summary, ...more);
  }

  #more(item: ToolItem): HTMLElement[] {
    const parts: HTMLElement[] = [];
    if (item.command) parts.push(output("command-line", `$ ${item.command}`, t("Command")));
    if (item.status === "error") parts.push(h("p", { class: "tool-error", text: item.result }));
    if (item.progress) parts.push(output("output", item.progress, t("Output")));
    if (item.diff) parts.push(diffOf(item.diff));
    if (item.files.length > 0 && (item.diff || item.files.length > 1)) {
      const links = item.files.map((path) => {
        const open = { type: "button", class: "link", title: path, on: { click: () => this.openFile(path) } };
        return h("li", {}, h("button", open, fileName(path)));
      });
      parts.push(h("ul", { class: "files" }, ...links));
    }
    return parts;
  }
}

function words(item: ToolItem): { title: string; detail: string } {
  // The figures have their own places in the line.
  const result = item.result.replace(` +${item.added} -${item.removed}`, "");
  const title = withoutFolders(item.title);
  const done = doneWith(item.name, result);
  if (item.status === "success" && done) return { title: done, detail: "" };
  if (item.status === "error") return { title: capital(title || result), detail: "" };
  return { title: capital(title || result), detail: title ? [result, ...timeOf(item)].join(" · ") : "" };
}

/** Of paths in full there is the name of the file. */
export function withoutFolders(text: string): string {
  return text.replaceAll(/(^|\s)(?:\/|[A-Z]:\\)\S*[/\\](?=[^/\\\s])/g, "$1");
}

/** Where there is little room the folder is cut before the name of the file. */
function withPath(title: string): (Node | string)[] {
  const [, before = "", folder = "", rest = ""] = /^(\S+ )(\S*\/)(\S+.*)$/s.exec(title) ?? [];
  return folder
    ? [h("span", { text: before }), h("span", { class: "folder", text: folder }), h("span", { text: rest })]
    : [title];
}

/** How long a command took that has ended. */
function timeOf({ command, status, durationMs = 0 }: ToolItem): string[] {
  return command !== undefined && status === "success" && durationMs > 0 ? [secondsOf(durationMs)] : [];
}

function output(kind: string, text: string, label: string): HTMLElement {
  return h("pre", { class: kind, tabindex: "0", role: "region", "aria-label": label, text: text });
}

export function diffOf(diff: string): HTMLElement {
  const lines = diff
    .replace(/^--- .*\n\+\+\+ .*\n/, "")
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => {
      const kind = { "+": "added-line", "-": "removed-line", "@": "place-line" }[line.charAt(0)] ?? "same-line";
      return h("span", { class: kind, text: `${line}\n` });
    });
  return h("pre", { class: "diff", tabindex: "0", role: "region", "aria-label": t("Changes") }, ...lines);
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
