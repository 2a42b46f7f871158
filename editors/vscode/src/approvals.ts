// What the user has allowed, as a list to choose from.

import type { QuickPickItem } from "vscode";
import { t } from "./l10n";
import type { Mode } from "./odin";
import type { Allowed } from "./protocol";
import { modeName } from "./words";

export interface ApprovalItem extends QuickPickItem {
  id: string;
}

export function approvalItems(allowed: readonly Allowed[]): ApprovalItem[] {
  return allowed.map(({ id, tool, pattern, mode, scope, since }) => ({
    id,
    label: pattern,
    description: scopeOf(scope, modeName(mode as Mode)),
    detail: t("{0}, since {1}", tool, since),
  }));
}

function scopeOf(scope: Allowed["scope"], mode: string): string {
  return {
    session: t("in this session, in {0}", mode),
    workspace: t("in this workspace, in {0}", mode),
    always: t("everywhere, in {0}", mode),
  }[scope];
}
