// Tools that are used: what each is about to do, what it puts out, and what came of it.

import type { BackgroundFinished, EventRecord, ToolFinished, ToolQueued, ToolStarted } from "../protocol";
import { agentOf, type Ledger } from "./ledger";
import type { ToolItem, Turn } from "./state";

/** Tools whose doing is shown otherwise: as a helper, as a list, as a question. */
export const SHOWN_OTHERWISE: ReadonlySet<string> = new Set(["AgentTool", "TodoWrite", "AskUser"]);
const MAX_PROGRESS = 20_000;
/** How a message begins that is a command for the shell. */
const OWN_COMMAND = "!";

/** It waits for the others of its step; where it stands is decided when it starts. */
export function queueTool(ledger: Ledger, record: EventRecord, event: ToolQueued): void {
  if (SHOWN_OTHERWISE.has(event.name)) return;
  const item = newTool(record, event);
  ledger.put(ledger.turnOf(record), { ...item, id: queuedId(record, event.callId), status: "queued" });
}

/** Nothing that waits in the turn comes to run. */
export function forgetQueued(ledger: Ledger, turn: Turn): void {
  ledger.drop(
    turn,
    turn.items.filter((it) => it.kind === "tool" && it.status === "queued"),
  );
}

export function startTool(ledger: Ledger, record: EventRecord, event: ToolStarted): void {
  if (SHOWN_OTHERWISE.has(event.name)) return;
  const command = event.arguments.command;
  const turn = ledger.turnOf(record);
  unqueue(ledger, turn, record, event.callId);
  const item = { ...newTool(record, event), ...(turn.head.said.startsWith(OWN_COMMAND) ? { isOwn: true } : {}) };
  ledger.put(turn, typeof command === "string" ? { ...item, command } : item);
}

export function addProgress(ledger: Ledger, record: EventRecord, callId: string, text: string): void {
  change(ledger, record, callId, (item) => ({ ...item, progress: (item.progress + text).slice(-MAX_PROGRESS) }));
}

export function finishTool(ledger: Ledger, record: EventRecord, event: ToolFinished): void {
  const turn = ledger.turnOf(record);
  unqueue(ledger, turn, record, event.callId);
  const known = ledger.item(turn, "tool", idOf(record, event.callId));
  if (!known && SHOWN_OTHERWISE.has(event.name) && event.status !== "error") return;
  const { status, description: result, files = [], added = 0, removed = 0, output: progress = "" } = event;
  // A command's own time is without that in which somebody was asked.
  const durationMs = event.ran?.durationMs ?? event.durationMs;
  const more = {
    ...(event.diff === undefined ? {} : { diff: event.diff }),
    ...(durationMs === undefined ? {} : { durationMs }),
  };
  const item = known ?? newTool(record, { ...event, description: "" });
  ledger.put(turn, { ...item, status, result, files, added, removed, progress, ...more });
}

export function finishBackground(ledger: Ledger, record: EventRecord, event: BackgroundFinished): void {
  const failed = event.status === "failed" || (event.exitCode ?? 0) !== 0;
  const status = failed ? "error" : "success";
  const { message: result, output: progress = "" } = event;
  change(ledger, record, event.callId, (item) => ({ ...item, status, result, progress }));
}

function unqueue(ledger: Ledger, turn: Turn, record: EventRecord, callId: string): void {
  const queued = ledger.item(turn, "tool", queuedId(record, callId));
  if (queued) ledger.drop(turn, [queued]);
}

function change(ledger: Ledger, record: EventRecord, callId: string, changed: (item: ToolItem) => ToolItem): void {
  const turn = ledger.find(record.turnId);
  const item = turn && ledger.item(turn, "tool", idOf(record, callId));
  if (item) ledger.put(turn, changed(item));
}

function newTool(record: EventRecord, event: Pick<ToolStarted, "callId" | "name" | "description">): ToolItem {
  return {
    ...{ kind: "tool", id: idOf(record, event.callId), ...agentOf(record), name: event.name, title: event.description },
    ...{ result: "", status: "running", progress: "", files: [], added: 0, removed: 0 },
  };
}

function queuedId({ turnId, agentId }: EventRecord, callId: string): string {
  return `${turnId}/${agentId}/queued/${callId}`;
}

function idOf({ turnId, agentId }: EventRecord, callId: string): string {
  return `${turnId}/${agentId}/call/${callId}`;
}
