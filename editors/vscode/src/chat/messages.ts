// What the chat's host and its page tell each other.

import type { AfterCancel, Mode } from "../odin";
import type { ContextItem, ImageItem } from "../protocol";
import type { Patch } from "../session/patches";

/** Something that goes with a message: what the user looks at or has attached, or what it mentions by `@`. */
export type Attachment =
  | { kind: "file"; uri: string; label: string }
  | { kind: "folder"; uri: string; label: string }
  | { kind: "selection" | "symbol"; uri: string; label: string; range: NonNullable<ContextItem["range"]> }
  | { kind: "problems"; label: string; uri?: string };

/** What a word begins with that can be completed: a mention, or a command at the beginning of the message. */
export type Sign = "@" | "/";

export interface Completion {
  /** What stands in the text after it was chosen, without the sign. */
  word: string;
  detail: string;
  icon: Attachment["kind"] | "command";
  /** Of a mention: what goes along. */
  attachment?: Attachment;
}

/** An image that goes with the next message, as base64. */
export type Picture = Required<Pick<ImageItem, "mediaType" | "data" | "name">>;

/** What belongs into the input again: words that were sent and not taken, and what went with them. */
export interface Returned {
  text: string;
  context: ContextItem[];
  pictures: Picture[];
}

/** A model of a server on this computer. */
export interface LocalModel {
  model: string;
  /** The server's. */
  name: string;
}

export type ToPage =
  | { type: "patches"; patches: Patch[] }
  /** What the user looks at. */
  | { type: "looked"; looked: Attachment | null }
  | { type: "attached"; attachments: Attachment[] }
  | { type: "pictures"; pictures: Picture[] }
  | { type: "completions"; request: number; completions: Completion[] }
  | { type: "found"; paths: string[] }
  | { type: "picture"; digest: string; url: string }
  | { type: "draft"; text: string; mode?: Mode }
  | { type: "returned"; text: string }
  | { type: "focus" }
  /** Scroll to it, as soon as it is there. */
  | { type: "turn"; turnId: string }
  /** Models of servers on this computer. */
  | { type: "local"; models: LocalModel[] }
  | { type: "recent"; sessions: { id: string; title: string; when: string }[] };

export type FromPage =
  | { type: "ready" }
  | { type: "focused"; isFocused: boolean }
  | { type: "send"; mode: Mode; text: string; attachments: Attachment[]; images: ImageItem[] }
  /** Have the user choose what goes along. */
  | { type: "attach" }
  | { type: "picture"; digest: string; mediaType: string }
  | { type: "stop"; queue: AfterCancel }
  | { type: "stopHelper"; agentId: string }
  | { type: "stopCompaction" }
  | { type: "retry"; turnId: string }
  | { type: "continue"; turnId: string }
  | { type: "earlier" }
  /** Look for model servers on this computer. */
  | { type: "findLocal" }
  | { type: "useModel"; model: string }
  | { type: "fork"; turnId: string }
  | { type: "undo"; turnId: string }
  | { type: "bringBack"; turnId: string }
  | { type: "queueResume" }
  | { type: "queueEdit"; turnId: string; text: string }
  | { type: "queueRemove"; turnId: string }
  | { type: "queueSend"; turnId: string }
  | { type: "answer"; questionId: string; optionIds: string[]; text?: string; command?: string }
  | { type: "review"; proposalId: string; decision: "open" | "accept" | "reject" | "drop" }
  | { type: "complete"; request: number; sign: Sign; word: string }
  | { type: "find"; paths: string[] }
  | { type: "openFile"; path: string }
  | { type: "openPlan"; turnId: string }
  | { type: "runPlan"; turnId: string }
  | { type: "openExternal"; url: string }
  | { type: "openSession"; sessionId: string }
  | { type: "insert"; text: string }
  /** `info` is what stands behind the fence of a block of code. */
  | { type: "apply"; code: string; info: string }
  | { type: "terminal"; command: string }
  | { type: "copy"; text: string }
  | { type: "run"; command: OwnCommand; provider?: string | undefined };

/** Commands of the extension that the page offers. */
export const OWN_COMMANDS = [
  "odin.vscode.newSession",
  "odin.vscode.restart",
  "odin.vscode.selectModel",
  "odin.vscode.setKey",
  "odin.vscode.showLog",
] as const;
export type OwnCommand = (typeof OWN_COMMANDS)[number] | (string & {});
