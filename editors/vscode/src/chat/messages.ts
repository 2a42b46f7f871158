// What the chat's host and its page tell each other.

import type { AfterCancel, Mode } from "../odin";
import type { ContextItem } from "../protocol";
import type { Patch } from "./patches";

/** Something that goes with a message: what the user looks at, or what the message mentions by `@`. */
export type Attachment =
  | { kind: "file"; uri: string; label: string }
  | { kind: "selection"; uri: string; label: string; range: NonNullable<ContextItem["range"]> }
  | { kind: "problems"; label: string; uri?: string };

export interface Completion {
  /** What stands in the text after it was chosen, without the `@`. */
  word: string;
  detail: string;
  icon: "file" | "symbol" | "selection" | "problems";
  attachment: Attachment;
}

export type ToPage =
  | { type: "patches"; patches: Patch[] }
  | { type: "attached"; attached: Attachment | null }
  | { type: "completions"; request: number; completions: Completion[] }
  | { type: "found"; paths: string[] }
  | { type: "draft"; text: string; mode?: Mode }
  | { type: "returned"; text: string }
  | { type: "focus" }
  /** Scroll to it, as soon as it is there. */
  | { type: "turn"; turnId: string }
  | { type: "recent"; sessions: { id: string; title: string; when: string }[] };

export type FromPage =
  | { type: "ready" }
  | { type: "focused"; isFocused: boolean }
  | { type: "send"; mode: Mode; text: string; attachments: Attachment[] }
  | { type: "stop"; queue: AfterCancel }
  | { type: "stopHelper"; agentId: string }
  | { type: "stopCompaction" }
  | { type: "retry"; turnId: string }
  | { type: "continue"; turnId: string }
  | { type: "earlier" }
  | { type: "fork"; turnId: string }
  | { type: "undo"; turnId: string }
  | { type: "bringBack"; turnId: string }
  | { type: "queueResume" }
  | { type: "queueEdit"; turnId: string; text: string }
  | { type: "queueRemove"; turnId: string }
  | { type: "queueSend"; turnId: string }
  | { type: "answer"; questionId: string; optionIds: string[]; text?: string; command?: string }
  | { type: "review"; proposalId: string; decision: "open" | "accept" | "reject" | "drop" }
  | { type: "complete"; request: number; word: string }
  | { type: "find"; paths: string[] }
  | { type: "openFile"; path: string }
  | { type: "openPlan"; turnId: string }
  | { type: "openExternal"; url: string }
  | { type: "openSession"; sessionId: string }
  | { type: "insert"; text: string }
  | { type: "copy"; text: string }
  | { type: "run"; command: OwnCommand; provider?: string | undefined };

/** Commands of the extension that the page offers. */
export const OWN_COMMANDS = [
  "odin.vscode.executePlan",
  "odin.vscode.newSession",
  "odin.vscode.restart",
  "odin.vscode.selectModel",
  "odin.vscode.setKey",
  "odin.vscode.showLog",
] as const;
export type OwnCommand = (typeof OWN_COMMANDS)[number] | (string & {});
