// What the chat shows, as plain data: the host keeps it, the page draws it.

import type { Mode, ServerState } from "../odin";
import type {
  ActivityChanged,
  Attached,
  Diagnostic,
  KeptFile,
  Outcome,
  Problem,
  Question,
  QueuedMessage,
  Retry,
  ReviewFile,
  SentContext,
  Todo,
  TurnUndone,
  Usage,
} from "../protocol";

/** Of one session. */
export interface ChatState {
  head: Head;
  turns: Turn[];
}

/** All that the page shows. */
export interface PageState extends ChatState {
  window: WindowState;
}

/** What is the same in every session. */
export interface WindowState {
  server: ServerState["kind"];
  /** The one that the next turn is made with. */
  model: string;
  /** The session of the last window is on its way. */
  isRestoring: boolean;
  trouble?: Trouble;
  position?: Position;
}

/** Where a review is being decided, in words: `12 of 30 · 3 of 6 files`. */
export interface Position {
  proposalId: string;
  words: string;
}

/** All of a session but the turns. */
export interface Head {
  sessionId?: string;
  title: string;
  running?: string;
  activity: ActivityChanged["activity"];
  detail: string;
  /** A request that has failed is made again. */
  retry?: Retry | undefined;
  /** Older messages are being replaced by a summary, now or beside the work. */
  isCompacting: boolean;
  usage: Usage;
  costUsd: number;
  queue: Waiting[];
  /** There is more before the first of the turns. */
  hasEarlier: boolean;
}

/** Why nothing can be asked right now, and what may help. */
export interface Trouble {
  why: string;
  actions: { title: string; command: string }[];
}

export interface Waiting extends Omit<QueuedMessage, "timestamp"> {
  /** The server that had it is gone: it is sent again only if the user wants it. */
  lost: boolean;
}

export interface Turn {
  head: TurnHead;
  items: Item[];
}

export interface TurnHead {
  id: string;
  /** Empty for what belongs to no turn: notices, questions of the server itself. */
  said: string;
  /** Images and PDFs that came with it. */
  attached?: Attached[];
  /** What else the editor has sent along. */
  context?: SentContext[];
  mode?: Mode;
  model?: string;
  /** Of the user's messages in this session, which one; counted from 0. */
  number?: number;
  /** `suspended`: it goes on when its review is made. `lost`: its server is gone, or would not take it. */
  status: "running" | "suspended" | "ended" | "lost";
  reason?: Outcome["reason"];
  detail?: string;
  problem?: Problem;
  /** Before that it is of no use to try again; in seconds since 1970. */
  retryAt?: number;
  plan?: string;
  usage?: Usage;
  durationMs?: number;
  /** Documents that changes of this turn are in, by their uris: what there is to undo. */
  changed: string[];
  /** Errors that it has introduced, and that are still there. */
  left?: Diagnostic[];
  undone?: Pick<TurnUndone, "restored" | "undoId"> & { kept: KeptFile[] };
}

interface Piece {
  id: string;
  /** The helper whose it is; none for Odin itself. */
  agentId?: string;
}

export interface TextItem extends Piece {
  kind: "text" | "thinking";
  text: string;
  isDone: boolean;
  /** How long it was thought. */
  durationMs?: number;
}

export interface ToolItem extends Piece {
  kind: "tool";
  name: string;
  /** What it is about to do, and what came of it. */
  title: string;
  result: string;
  command?: string;
  /** The user's own command: its output is what they have asked for. */
  isOwn?: boolean;
  /** `queued`: others of the same step come first. */
  status: "queued" | "running" | "success" | "error" | "cancelled";
  progress: string;
  files: string[];
  added: number;
  removed: number;
  diff?: string;
  durationMs?: number;
}

/** A call that the model is still writing. */
export interface DraftItem extends Piece {
  kind: "draft";
  name: string;
  /** The file, the command or whatever else it is about, as far as it has come. */
  subject: string;
  /** The end of what is being written in it. */
  text: string;
}

export interface TodoItem extends Piece {
  kind: "todos";
  todos: Todo[];
}

export interface HelperItem extends Piece {
  kind: "helper";
  description: string;
  mode: Mode;
  status: "running" | "completed" | "stopped" | "failed" | "cancelled";
  summary: string;
}

export interface QuestionItem extends Piece {
  kind: "question";
  question: Question;
  /** When the question is over if nobody answers, in seconds since 1970. */
  until?: number;
  /** What the user said to it; `null` while nobody has, `gone` when nobody can any more. */
  answer: { labels: string[]; text?: string; command?: string } | "gone" | null;
}

export interface ReviewItem extends Piece {
  kind: "review";
  files: { uri: string; operation: ReviewFile["operation"]; pending: number; accepted: number; rejected: number }[];
  isOpen: boolean;
  /** Its turn has ended without it. */
  waits?: boolean;
}

export interface NoticeItem extends Piece {
  kind: "notice";
  level: "info" | "warning" | "error";
  message: string;
}

/** What edits have done to what language servers find wrong. */
export interface ProblemsItem extends Piece {
  kind: "problems";
  introduced: Diagnostic[];
  fixed: Diagnostic[];
  /** There now; whether they were there before is not known. */
  found: Diagnostic[];
  remaining: number;
}

/** What the user said in the middle of the turn. */
export interface SpokenItem extends Piece {
  kind: "spoken";
  text: string;
}

export type Item =
  | TextItem
  | ToolItem
  | DraftItem
  | TodoItem
  | HelperItem
  | QuestionItem
  | ReviewItem
  | NoticeItem
  | ProblemsItem
  | SpokenItem;

export function emptyState(): ChatState {
  return {
    head: {
      ...{ title: "", activity: "idle", detail: "", isCompacting: false },
      ...{ usage: {}, costUsd: 0, queue: [], hasEarlier: false },
    },
    turns: [],
  };
}

export function emptyPage(): PageState {
  return { ...emptyState(), window: { server: "stopped", model: "", isRestoring: false } };
}
