// The page of the chat: draws what the host tells, and tells the host what the user does.

import type { FromPage, ToPage } from "../src/chat/messages";
import { applyPatch, type Patch } from "../src/chat/patches";
import { type ChatState, emptyState, type Head } from "../src/chat/state";
import { readable } from "../src/chat/text";
import type { Mode } from "../src/odin";
import { Composer, type Draft } from "./composer";
import { button, h, icon, iconButton } from "./dom";
import { LogView } from "./log";

/** What the page itself remembers while it is hidden. */
export interface Saved {
  draft?: Draft;
  open?: string[];
  /** None: at the end. */
  scroll?: number;
}

export interface Host {
  post(message: FromPage): void;
  load(): Saved | undefined;
  save(saved: Saved): void;
}

const NEAR_END = 60;
const EXAMPLES: { mode: Mode; text: string }[] = [
  { mode: "ask_mode", text: "Explain how this file works" },
  { mode: "plan_mode", text: "Plan tests for this file" },
  { mode: "edit_mode", text: "Fix the problems in this file" },
];
const ACTIVITIES: Partial<Record<Head["activity"], string>> = {
  connecting: "Connecting",
  waiting_headers: "Waiting for the model",
  waiting_token: "Waiting for the model",
  streaming: "Writing",
  executing: "Working",
  compacting: "Compacting the session",
  retrying: "Trying again",
  retrying_key: "Trying another key",
  cooling: "The provider is busy; waiting",
  verifying: "Checking",
};

export class App {
  #state: ChatState = emptyState();
  #log = h("div", { class: "turns", role: "log", "aria-live": "off", "aria-label": "Conversation" });
  #earlier = h("div", { class: "earlier", hidden: true });
  #empty = h("section", { class: "empty", "aria-label": "Start" });
  #activity = h("p", { class: "activity", hidden: true });
  #trouble = h("section", { class: "trouble", "aria-label": "Server", hidden: true });
  #announced = h("div", { class: "visually-hidden", role: "status", "aria-live": "polite" });
  #scroller = h("main", { tabindex: "-1" });
  #toEnd = h("button", { type: "button", class: "to-end", "aria-label": "Scroll to the end", hidden: true });
  #view: LogView;
  #composer: Composer;
  #files = new Set<string>();
  #looked = new Set<string>();
  #recent: { id: string; title: string; when: string }[] = [];
  #saved: Saved;
  #scrollTop = 0;
  /** A turn to be scrolled to. */
  #wanted: string | undefined;

  constructor(
    root: HTMLElement,
    private readonly host: Host,
  ) {
    this.#saved = host.load() ?? {};
    const { draft } = this.#saved;
    const post = (message: FromPage) => host.post(message);
    this.#composer = new Composer(post, (it) => this.#save({ draft: it }));
    if (draft) this.#composer.draft = draft;
    this.#view = new LogView(this.#log, {
      post,
      announce: (text) => {
        this.#announced.textContent = readable(text);
      },
      copy: (text) => post({ type: "copy", text }),
      insert: (text) => post({ type: "insert", text }),
      openFile: (path) => post({ type: "openFile", path }),
      openExternal: (url) => post({ type: "openExternal", url }),
      findFiles: (names) => this.#find(names),
      isFile: (name) => this.#files.has(name),
      isOpen: (fold) => this.#saved.open?.includes(fold) ?? false,
      setOpen: (fold, isOpen) => {
        const others = (this.#saved.open ?? []).filter((it) => it !== fold);
        this.#save({ open: isOpen ? [...others, fold] : others });
      },
    });
    this.#earlier.append(button("Show earlier messages", () => post({ type: "earlier" })));
    this.#toEnd.append(icon("arrow-down"));
    this.#toEnd.addEventListener("click", () => this.#scrollToEnd());
    const title = h("h1", { class: "visually-hidden", text: "Odin" });
    this.#scroller.append(title, this.#empty, this.#earlier, this.#log, this.#activity);
    this.#scroller.addEventListener("scroll", () => this.#scrolled());
    // What is at the end stays there when the view gets smaller, or what is shown in it larger.
    const resized = () => this.#saved.scroll === undefined && this.#scrollToEnd();
    if ("ResizeObserver" in window) {
      const observer = new ResizeObserver(resized);
      for (const element of [this.#scroller, this.#log]) observer.observe(element);
    }
    const foot = h("footer", { class: "foot" }, this.#toEnd, this.#trouble, this.#composer.element);
    root.replaceChildren(this.#scroller, this.#announced, foot);
    this.#showHead();
    for (const kind of ["focus", "blur"]) {
      window.addEventListener(kind, () => post({ type: "focused", isFocused: kind === "focus" }));
    }
    host.post({ type: "ready" });
  }

  take(message: ToPage): void {
    switch (message.type) {
      case "patches":
        this.#patch(message.patches);
        break;
      case "attached":
        this.#composer.attach(message.attached);
        break;
      case "completions":
        this.#composer.completions.show(message.request, message.completions);
        break;
      case "found":
        for (const path of message.paths) this.#files.add(path);
        this.#view.linkFiles();
        break;
      case "draft":
        this.#composer.write(message.text, message.mode);
        break;
      case "returned":
        this.#composer.giveBack(message.text);
        break;
      case "focus":
        this.#composer.text.focus();
        break;
      case "turn":
        this.#wanted = message.turnId;
        this.#scrollToWanted();
        break;
      case "recent":
        this.#recent = message.sessions;
        this.#showEmpty();
    }
  }

  #patch(patches: Patch[]): void {
    const isAtEnd = this.#saved.scroll === undefined;
    const isAll = patches.some((it) => it.kind === "all");
    const first = this.#state.turns[0]?.head.id;
    const fromEnd = isAll ? this.#scroller.scrollHeight - this.#scroller.scrollTop : 0;
    for (const patch of patches) {
      applyPatch(this.#state, patch);
      this.#view.show(this.#state, patch);
    }
    if (patches.some((it) => it.kind !== "grow")) {
      this.#composer.said = this.#state.turns.map((it) => it.head.said).filter(Boolean);
      this.#showHead();
    }
    const moved = this.#state.turns.findIndex((it) => it.head.id === first);
    if (isAll && moved > 0) {
      // What came before is above it now.
      this.#scroller.scrollTop = this.#scroller.scrollHeight - fromEnd;
    } else if (isAtEnd) this.#scrollToEnd();
    else if (isAll) this.#scroller.scrollTop = this.#saved.scroll ?? 0;
    this.#scrollToWanted();
  }

  #showHead(): void {
    const { head } = this.#state;
    this.#earlier.hidden = !head.hasEarlier;
    this.#composer.show(head);
    const isRunning = head.running !== undefined;
    this.#activity.hidden = !isRunning;
    const doing = ACTIVITIES[head.activity] ?? "Working";
    const words = head.detail && head.activity !== "executing" ? `${doing}: ${readable(head.detail)}` : `${doing}…`;
    const sign = this.#waitsForUser ? icon("bell") : icon("loading", "codicon-modifier-spin");
    this.#activity.replaceChildren(sign, this.#waitsForUser ? "Waiting for you" : words);
    if (head.isCompacting) {
      const beside = head.activity === "compacting" ? "" : " Compacting the session.";
      const stop = () => this.host.post({ type: "stopCompaction" });
      this.#activity.append(beside, iconButton("debug-stop", "Cancel compaction", stop));
    }
    this.#showTrouble(head);
    this.#showEmpty();
  }

  get #waitsForUser(): boolean {
    const items = this.#state.turns.at(-1)?.items ?? [];
    return items.some((it) => (it.kind === "question" && it.answer === null) || (it.kind === "review" && it.isOpen));
  }

  #showTrouble({ trouble }: Head): void {
    this.#trouble.hidden = trouble === undefined;
    const actions = (trouble?.actions ?? []).map(({ title, command }) =>
      button(title, () => this.host.post({ type: "run", command })),
    );
    this.#trouble.replaceChildren(
      h("p", {}, icon("error"), readable(trouble?.why ?? "")),
      h("div", { class: "actions" }, ...actions),
    );
  }

  #showEmpty(): void {
    this.#empty.hidden = this.#state.turns.length > 0;
    if (this.#empty.hidden) return;
    const { model } = this.#state.head;
    const examples = EXAMPLES.map(({ mode, text }) => {
      const write = { type: "button", class: "example", on: { click: () => this.#composer.write(text, mode) } };
      return h("li", {}, h("button", write, text));
    });
    const parts = [
      h("h2", { text: "What shall we do?" }),
      h("p", {
        class: "muted",
        text: "Odin reads what is on your screen and changes nothing that you have not accepted.",
      }),
      h("ul", { class: "examples" }, ...examples),
    ];
    if (model.startsWith("offline/")) {
      const set = () => this.host.post({ type: "run", command: "odin.vscode.setKey" });
      const why =
        "No API key is set: a small built-in model answers. With a key of Anthropic, Google or OpenAI a real one does.";
      parts.push(h("div", { class: "no-key" }, h("p", { text: why }), button("Set an API key…", set)));
    }
    if (this.#recent.length > 0) {
      const rows = this.#recent.map(({ id, title, when }) => {
        const open = () => this.host.post({ type: "openSession", sessionId: id });
        const row = { type: "button", class: "example", title, on: { click: open } };
        return h(
          "li",
          {},
          h("button", row, h("span", { text: readable(title) }), h("span", { class: "when", text: when })),
        );
      });
      parts.push(h("h3", { text: "Recent" }), h("ul", { class: "examples" }, ...rows));
    }
    this.#empty.replaceChildren(...parts);
  }

  #find(names: string[]): void {
    const unknown = names.filter((it) => !this.#looked.has(it));
    for (const name of unknown) this.#looked.add(name);
    if (unknown.length > 0) this.host.post({ type: "find", paths: unknown });
  }

  #scrollToEnd(): void {
    this.#scroller.scrollTop = this.#scroller.scrollHeight;
  }

  #scrollToWanted(): void {
    const turn = this.#wanted === undefined ? undefined : this.#view.elementOf(this.#wanted);
    if (!turn) return;
    this.#wanted = undefined;
    this.#scroller.scrollTop += turn.getBoundingClientRect().top - this.#scroller.getBoundingClientRect().top;
    this.#save({ scroll: this.#scroller.scrollTop });
  }

  /** Only scrolling up leaves the end: what grows below, as buttons do when they are drawn, does not. */
  #scrolled(): void {
    const { scrollTop, scrollHeight, clientHeight } = this.#scroller;
    const isNearEnd = scrollHeight - scrollTop - clientHeight < NEAR_END;
    const isLeft = this.#saved.scroll !== undefined || scrollTop < this.#scrollTop;
    this.#scrollTop = scrollTop;
    this.#toEnd.hidden = isNearEnd || !isLeft;
    this.#save({ scroll: isNearEnd || !isLeft ? undefined : scrollTop });
  }

  #save(changed: Partial<Saved>): void {
    this.#saved = { ...this.#saved, ...changed };
    this.host.save(this.#saved);
  }
}
