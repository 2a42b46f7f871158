// What the parts of the extension know of the server. `server/connection.ts` is behind it, tests put their own there.

import type { CancellationToken, Event } from "vscode";
import type {
  Answer,
  CancelParams,
  Commands,
  ContextItem,
  EventRecord,
  ImageItem,
  Outcome,
  Question,
  Review,
  ReviewAnswer,
  ServerInfo,
} from "./protocol";

export type CommandName = keyof Commands;
export type Mode = "ask_mode" | "plan_mode" | "edit_mode";
/** What becomes of the messages behind a turn that is cancelled: they wait, go on, or are given back. */
export type AfterCancel = NonNullable<CancelParams["queue"]>;
export type TurnCommand = "odin.ask" | "odin.plan" | "odin.edit";

export const TURN_COMMANDS: Readonly<Record<Mode, TurnCommand>> = {
  ask_mode: "odin.ask",
  plan_mode: "odin.plan",
  edit_mode: "odin.edit",
};

/** The server's life. `failed` says why, in words for the user, and which commands of the palette may help;
 * `starting` says why if the server has ended and is started again. */
export type ServerState =
  | { kind: "stopped" }
  | { kind: "starting"; why?: string }
  | { kind: "ready"; info: ServerInfo }
  | { kind: "failed"; why: string; actions: { title: string; command: string }[] };

export type AnswerQuestion = (question: Question, token: CancellationToken) => Promise<Answer | null>;
export type AnswerReview = (review: Review, token: CancellationToken) => Promise<ReviewAnswer | null>;

export interface Odin {
  readonly state: ServerState;
  readonly onDidChangeState: Event<ServerState>;
  /** Everything the server tells, in order, from every turn, session and helper. */
  readonly onEvent: Event<EventRecord>;

  /** Run a command of the server, which is started if it is not running. Rejects with words for the user. */
  execute<Name extends CommandName>(
    command: Name,
    argument: Commands[Name]["argument"],
  ): Promise<Commands[Name]["result"]>;
  restart(): Promise<void>;
}

/** Turns, wherever the user asked for them: shown in the chat. `chat/turns.ts` is behind it. */
export interface Turns {
  /** Begin a turn, or queue it. Settles when it has ended; what went wrong is shown in the chat, never thrown. */
  say(
    mode: Mode,
    text: string,
    context?: readonly ContextItem[],
    images?: readonly ImageItem[],
    turnId?: string,
    /** False: some of the text is of files, such as a comment. */
    typed?: boolean,
  ): Promise<Outcome | undefined>;
  /** The turn that runs, if one does. */
  readonly running: { turnId: string; mode: Mode } | undefined;
  cancel(queue?: AfterCancel): Promise<void>;
}
