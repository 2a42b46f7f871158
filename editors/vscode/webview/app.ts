// The page of the chat: draws what the host tells, and tells the host what the user does.

import type { FromPage, ToPage } from "../src/chat/messages";
import { t } from "../src/l10n";
import type { Mode } from "../src/odin";
import { applyPatch, type Patch } from "../src/session/patches";
import { emptyPage, type Head, type PageState } from "../src/session/state";
import { activityName } from "../src/words";
import { Composer, type Draft } from "./composer";
import { button, Drawn, h, icon, iconButton, setText } from "./dom";
import { LogView } from "./log";
import { Gallery } from "./pictures";
import { isOffline, isUnset, type Offered, startOf } from "./start";

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

/** What goes on, in a sentence. */
function doingOf({ activity, detail, retry }: Head): string {
  const doing = activityName(activity) || t("Working");
  if (retry) {
    const { wait, attempt, attempts } = retry;
    const again = activity === "cooling" ? t("Trying again") : doing;
    const reason = retry.reason;
    return wait >= 1
      ? t("{0} in {1} s (attempt {2} of {3}): {4}", again, Math.round(wait), attempt, attempts, reason)
      : t("{0} (attempt {1} of {2}): {3}", again, attempt, attempts, reason);
  }
  return detail && activity !== "executing" ? `${doing}: ${detail}` : `${doing}…`;
}

export class App {
  #state: PageState = emptyPage();
  #log = h("div", { class: "turns", role: "log", "aria-live": "off", "aria-label": t("Session") });
  #earlier = h("div", { class: "earlier", hidden: true });
  #empty = h("section", { class: "empty", "aria-label": t("Start") });
  #activity = h("p", { class: "activity", hidden: true });
  #trouble = h("section", { class: "trouble", "aria-label": t("Server"), hidden: true });
  #drawnEmpty = new Drawn(this.#empty);
  #drawnActivity = new Drawn(this.#activity);
  #drawnTrouble = new Drawn(this.#trouble);
  #announced = h("div", { class: "visually-hidden", role: "status", "aria-live": "polite" });
  #scroller = h("main", { tabindex: "-1" });
  #toEnd = h("button", { type: "button", class: "to-end", "aria-label": t("Scroll to the end"), hidden: true });
  #view: LogView;
  #gallery = new Gallery((message) => this.host.post(message));
  #composer: Composer;
  #files = new Set<string>();
  #looked = new Set<string>();
  #offered: Offered = { recent: [], local: [] };
  /** Once is enough: the user can look again in the list of models. */
  #hasLookedForLocal = false;
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
    const post = (message: FromPage) => {
      host.post(message);
      if (message.type === "send") this.#follow();
    };
    this.#composer = new Composer(post, (it) => this.#save({ draft: it }));
    if (draft) this.#composer.draft = draft;
    this.#view = new LogView(this.#log, {
      post,
      announce: (text) => {
        setText(this.#announced, text);
      },
      picture: (attached) => this.#gallery.of(attached),
      copy: (text) => post({ type: "copy", text }),
      insert: (text) => post({ type: "insert", text }),
      apply: (code, info) => post({ type: "apply", code, info }),
      intoTerminal: (command) => post({ type: "terminal", command }),
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
    this.#earlier.append(button(t("Show Earlier Messages"), () => post({ type: "earlier" })));
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
    this.#takeFocus();
    window.addEventListener("keydown", (event) => {
      const isMeant = event.key === "Escape" && !event.defaultPrevented && this.#state.head.running !== undefined;
      if (isMeant) post({ type: "stop", queue: "keep" });
    });
    host.post({ type: "ready" });
  }

  /** Whoever comes here by keys or a command can write at once; whoever clicks has chosen the place. */
  #takeFocus(): void {
    let isPointing = false;
    window.addEventListener("pointerdown", () => (isPointing = true), { capture: true });
    window.addEventListener("pointerup", () => (isPointing = false), { capture: true });
    window.addEventListener("focus", () => {
      if (!isPointing && document.activeElement === document.body) this.#composer.text.focus();
    });
  }

  take(message: ToPage): void {
    switch (message.type) {
      case "patches":
        this.#patch(message.patches);
        break;
      case "picture":
        this.#gallery.take(message.digest, message.url);
        break;
      case "looked":
        this.#composer.attachments.look(message.looked);
        break;
      case "attached":
        this.#composer.attach(message.attachments);
        break;
      case "pictures":
        this.#composer.pictures.add(message.pictures);
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
        this.#offered = { ...this.#offered, recent: message.sessions };
        this.#showEmpty();
        break;
      case "local":
        this.#offered = { ...this.#offered, local: message.models };
        this.#showEmpty();
    }
  }

  #patch(patches: Patch[]): void {
    if (this.#scroller.scrollTop !== this.#scrollTop) this.#scrolled(); // nobody is told of that before the next frame
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
    const { head, window } = this.#state;
    this.#earlier.hidden = !head.hasEarlier;
    this.#composer.show(head, window.model);
    const isRunning = head.running !== undefined;
    this.#activity.hidden = !isRunning;
    const shown = this.#waitsForUser ? t("Waiting for you") : doingOf(head);
    const beside = head.activity === "compacting" ? "" : ` ${t("Compacting the session.")}`;
    this.#drawnActivity.show([shown, head.isCompacting && beside], () => {
      const sign = this.#waitsForUser ? icon("bell") : icon("loading", "codicon-modifier-spin");
      const stop = () => this.host.post({ type: "stopCompaction" });
      const more = head.isCompacting ? [beside, iconButton("debug-stop", t("Cancel compaction"), stop)] : [];
      return [sign, shown, ...more];
    });
    this.#showTrouble();
    this.#showEmpty();
  }

  get #waitsForUser(): boolean {
    const items = this.#state.turns.at(-1)?.items ?? [];
    return items.some((it) => (it.kind === "question" && it.answer === null) || (it.kind === "review" && it.isOpen));
  }

  #showTrouble(): void {
    const { window, turns } = this.#state;
    const isInCard = isUnset(window) && turns.length === 0;
    const trouble = isInCard ? undefined : window.trouble;
    this.#trouble.hidden = trouble === undefined;
    this.#drawnTrouble.show(trouble, () => {
      if (!trouble) return [];
      const actions = trouble.actions.map(({ title, command }) =>
        button(title, () => this.host.post({ type: "run", command })),
      );
      const why = h("p", {}, icon(isUnset(window) ? "info" : "error"), trouble.why);
      return [why, h("div", { class: "actions" }, ...actions)];
    });
  }

  #showEmpty(): void {
    this.#empty.hidden = this.#state.turns.length > 0;
    const write = (text: string, mode: Mode) => this.#composer.write(text, mode);
    const { window } = this.#state;
    this.#drawnEmpty.show(this.#empty.hidden || [window, this.#offered], () =>
      this.#empty.hidden ? [] : startOf(window, this.#offered, { post: (it) => this.host.post(it), write }),
    );
    if (!this.#empty.hidden && isOffline(window) && !this.#hasLookedForLocal) {
      this.#hasLookedForLocal = true;
      this.host.post({ type: "findLocal" });
    }
  }

  #find(names: string[]): void {
    const unknown = names.filter((it) => !this.#looked.has(it));
    for (const name of unknown) this.#looked.add(name);
    if (unknown.length > 0) this.host.post({ type: "find", paths: unknown });
  }

  #scrollToEnd(): void {
    this.#scroller.scrollTop = this.#scroller.scrollHeight;
    this.#scrollTop = this.#scroller.scrollTop;
  }

  /** Whoever has said something wants to see what comes of it. */
  #follow(): void {
    this.#save({ scroll: undefined });
    this.#scrollToEnd();
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
