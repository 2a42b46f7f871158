// What is shown of the store: in the status bar, on the chat's badge, in its page.

import { t } from "../l10n";
import type { Mode, ServerState } from "../odin";
import type { ActivityChanged } from "../protocol";
import type { WindowState } from "./state";
import type { Store } from "./store";
import type { Transcript } from "./transcript";

/** Of a window, in a line. */
export interface Standing {
  server: ServerState;
  isTrusted: boolean;
  model: string;
  role: string;
  running?: { turnId: string; mode: Mode };
  activity: ActivityChanged["activity"];
  costUsd: number;
  questions: number;
  reviews: number;
  /** Where the user is in a review, in words. */
  position?: string;
}

export function standingOf(store: Store): Standing {
  const { server, isTrusted, model, role, position } = store;
  const busy = busySession(store);
  const running = busy && runningIn(busy);
  return {
    ...{ server, isTrusted, model, role },
    ...(running ? { running } : {}),
    activity: busy?.state.head.activity ?? "idle",
    costUsd: store.shown.state.head.costUsd,
    questions: store.questions.size,
    reviews: store.reviews.size,
    ...(position ? { position: position.words } : {}),
  };
}

export function runningIn(session: Transcript): Standing["running"] {
  const turnId = session.state.head.running;
  const mode = turnId ? session.turn(turnId)?.mode : undefined;
  return turnId && mode ? { turnId, mode } : undefined;
}

/** What the page knows besides the session. */
export function windowOf({ server, model, position, isRestoring }: Store): WindowState {
  return {
    ...{ server: server.kind, model, isRestoring },
    ...(server.kind === "failed" ? { trouble: { why: server.why, actions: server.actions } } : {}),
    ...(position ? { position } : {}),
  };
}

export function badgeOf({ questions }: Store): { value: number; tooltip: string } | undefined {
  return questions.size > 0 ? { value: questions.size, tooltip: t("Odin has a question for you") } : undefined;
}

/** The one that is shown comes first. */
function busySession({ sessions }: Store): Transcript | undefined {
  return sessions.find((it) => it.state.head.running !== undefined);
}
