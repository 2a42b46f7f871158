// What the user has allowed, as a list to choose from.

import type { QuickPickItem } from "vscode";
import type { Mode } from "./odin";
import type { Allowed } from "./protocol";
import { MODE_NAMES } from "./status";

export interface ApprovalItem extends QuickPickItem {
  id: string;
}

const SCOPES: Readonly<Record<Allowed["scope"], string>> = {
  session: "in this session",
  workspace: "in this workspace",
  always: "everywhere",
};

export function approvalItems(allowed: readonly Allowed[]): ApprovalItem[] {
  return allowed.map(({ id, tool, pattern, mode, scope, since }) => ({
    id,
    label: pattern,
    description: `${SCOPES[scope]}, in ${MODE_NAMES[mode as Mode]}`,
    detail: `${tool}, since ${since}`,
  }));
}
