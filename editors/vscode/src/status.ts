// The status bar: which model, in which role and mode, what it does, what the session has cost, and what waits for the user.

import type { Disposable, StatusBarItem } from "vscode";
import type { Mode, Odin, ServerState } from "./odin";
import type { ActivityChanged, EventRecord, Usage } from "./protocol";
import { counted } from "./words";

/** The role of those who have chosen none. */
const BUILDER = "builder";
export const MODE_NAMES: Readonly<Record<Mode, string>> = { ask_mode: "Ask", plan_mode: "Plan", edit_mode: "Edit" };

const ACTIVITIES: Readonly<Record<ActivityChanged["activity"], string>> = {
  idle: "",
  connecting: "connecting",
  waiting_headers: "waiting for the model",
  waiting_token: "waiting for the model",
  streaming: "writing",
  executing: "working",
  compacting: "compacting the session",
  retrying: "trying again",
  retrying_key: "trying another key",
  cooling: "waiting for the provider",
  verifying: "checking",
};

/** What a window knows of Odin, gathered from events. */
export interface Standing {
  server: ServerState;
  isTrusted: boolean;
  model: string;
  role: string;
  sessionId: string;
  running?: { turnId: string; mode: Mode };
  activity: ActivityChanged["activity"];
  costUsd: number;
  questions: ReadonlySet<string>;
  reviews: ReadonlySet<string>;
  /** Where the user is in a review, in words. */
  position?: string;
}

export interface Shown {
  text: string;
  /** Plain text: models and sessions have names that others gave. */
  tooltip: string;
  label: string;
  background: "error" | "warning" | undefined;
}

/** Follows the events of the current session. */
export class StatusFollower implements Disposable {
  readonly #subscriptions: Disposable[];
  #standing: Standing;
  /** Dollars of turns that have ended. */
  #spent = 0;

  constructor(
    private readonly odin: Odin,
    isTrusted: boolean,
    private readonly onChange: (standing: Standing) => void,
  ) {
    this.#standing = { ...NOTHING, server: odin.state, isTrusted };
    this.#subscriptions = [
      odin.onDidChangeState((server) => this.#follow(server)),
      odin.onEvent((record) => this.#take(record)),
    ];
  }

  get standing(): Standing {
    return this.#standing;
  }

  place(position: string | undefined): void {
    this.#set({ position });
  }

  trust(): void {
    this.#set({ isTrusted: true });
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) {
      subscription.dispose();
    }
  }

  #follow(server: ServerState): void {
    const ended = server.kind === "ready" ? {} : { running: undefined, activity: "idle" as const, ...NO_QUESTIONS };
    this.#set({ server, ...ended, ...(server.kind === "ready" ? { model: server.info.model } : {}) });
    if (server.kind === "ready") void this.#readRole();
  }

  async #readRole(): Promise<void> {
    try {
      this.#set({ role: (await this.odin.execute("odin.role", {})).role });
    } catch {
      // Then it is known when the user chooses one.
    }
  }

  #take({ event, turnId, sessionId, agentId }: EventRecord): void {
    const { questions, reviews, running } = this.#standing;
    const isOurs = turnId === running?.turnId;
    switch (event.kind) {
      case "turnStarted":
        if (agentId === MAIN) {
          this.#begin(sessionId);
          this.#set({ running: { turnId, mode: event.mode }, model: event.model, activity: "connecting" });
        }
        break;
      case "activityChanged":
        if (isOurs && agentId === MAIN) {
          this.#set({ activity: event.activity });
        }
        break;
      case "usageChanged":
        if (isOurs) {
          this.#set({ costUsd: this.#spent + dollars(event.usage) });
        }
        break;
      case "turnFinished":
        if (isOurs && agentId === MAIN) {
          this.#spent += dollars(event.outcome.usage);
          this.#set({ running: undefined, activity: "idle", costUsd: this.#spent });
        }
        break;
      case "questionAsked":
        if (event.question.kind !== "review") {
          this.#set({ questions: new Set([...questions, event.question.questionId]) });
        }
        break;
      case "questionAnswered":
        this.#set({ questions: without(questions, event.questionId) });
        break;
      case "reviewOpened":
        this.#set({ reviews: new Set([...reviews, event.proposal.proposalId]) });
        break;
      case "reviewClosed":
        this.#set({ reviews: without(reviews, event.proposalId) });
        break;
      case "modelChanged":
        this.#set({ model: event.selected });
        break;
      case "roleChanged":
        this.#set({ role: event.role });
        break;
      case "sessionRestored":
        this.#begin(event.sessionId);
        void this.#count(event.sessionId);
        break;
    }
  }

  /** Another session has its own cost. */
  #begin(sessionId: string): void {
    if (sessionId !== this.#standing.sessionId) {
      this.#spent = 0;
      this.#set({ sessionId, costUsd: 0 });
    }
  }

  /** What a session has cost that was read from disk. */
  async #count(sessionId: string): Promise<void> {
    try {
      const { usage } = await this.odin.execute("odin.state", { sessionId });
      if (sessionId === this.#standing.sessionId) {
        this.#spent = dollars(usage);
        this.#set({ costUsd: this.#spent });
      }
    } catch {
      // Then it is counted from here on.
    }
  }

  #set(change: Partial<Standing>): void {
    this.#standing = { ...this.#standing, ...change };
    this.onChange(this.#standing);
  }
}

const MAIN = "main";
const NO_QUESTIONS = { questions: new Set<string>(), reviews: new Set<string>() };
const NOTHING = { model: "", role: "", sessionId: "", activity: "idle" as const, costUsd: 0, ...NO_QUESTIONS };

export function shownFor(standing: Standing): Shown {
  const { server } = standing;
  switch (server.kind) {
    case "stopped":
      return plain("$(circle-outline) Odin", "Odin has not been started");
    case "starting":
      return server.why
        ? { ...plain("$(sync~spin) Odin", `Odin is started again. ${server.why}`), background: "warning" }
        : plain("$(loading~spin) Odin", "Odin is starting");
    case "failed":
      return { ...plain("$(error) Odin", `Odin does not run. ${server.why}`), background: "error" };
    case "ready":
      return standing.questions.size + standing.reviews.size > 0 ? waiting(standing) : working(standing);
  }
}

function waiting(standing: Standing): Shown {
  const { questions, position } = standing;
  const asked = questions.size > 0 && counted(questions.size, "question");
  const text = asked || position || "changes to review";
  const words = asked || (position ? `change ${position}` : "changes to review");
  return {
    ...plain(`$(bell-dot) Odin: ${text}`, `Odin waits for you: ${words}. ${details(standing)}`),
    background: "warning",
  };
}

function working(standing: Standing): Shown {
  const { running, activity } = standing;
  const model = standing.model.split("/").at(-1) ?? "";
  const parts = [model, roleOf(standing), running ? MODE_NAMES[running.mode] : "", cost(standing.costUsd)].filter(
    Boolean,
  );
  if (!running) {
    const icon = standing.isTrusted ? "$(eye)" : "$(shield)";
    return plain(`${icon} ${parts.join(" · ")}`, `Odin is ready. ${details(standing)}`);
  }
  const doing = ACTIVITIES[activity];
  const text = `$(loading~spin) ${[...parts, doing].filter(Boolean).join(" · ")}`;
  return plain(text, `Odin is at work${doing ? `: ${doing}` : ""}. ${details(standing)}`);
}

function details(standing: Standing): string {
  const restricted = standing.isTrusted ? "" : " The workspace is not trusted, so only Ask works.";
  const role = roleOf(standing) ? ` Role: ${standing.role}.` : "";
  const mode = standing.running ? ` Mode: ${MODE_NAMES[standing.running.mode]}.` : "";
  const spent = standing.costUsd > 0 ? ` This session: ${cost(standing.costUsd)}.` : "";
  return `Model: ${standing.model}.${role}${mode}${spent}${restricted}`;
}

/** The usual one goes without saying. */
function roleOf({ role }: Standing): string {
  return role === BUILDER ? "" : role;
}

function plain(text: string, tooltip: string): Shown {
  return { text, tooltip, label: tooltip, background: undefined };
}

function cost(dollarsSpent: number): string {
  if (dollarsSpent <= 0) {
    return "";
  }
  return dollarsSpent < 0.01 ? "<$0.01" : `$${dollarsSpent.toFixed(2)}`;
}

function dollars(usage: Usage | undefined): number {
  return usage?.costUsd ?? 0;
}

function without(set: ReadonlySet<string>, item: string): ReadonlySet<string> {
  return new Set([...set].filter((it) => it !== item));
}

export function show(
  item: StatusBarItem,
  shown: Shown,
  background: (kind: "error" | "warning") => StatusBarItem["backgroundColor"],
): void {
  item.text = shown.text;
  item.tooltip = shown.tooltip;
  item.accessibilityInformation = { label: shown.label, role: "button" };
  item.backgroundColor = shown.background && background(shown.background);
  item.show();
}
