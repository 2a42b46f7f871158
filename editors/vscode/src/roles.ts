// Which roles can be selected.

import type { QuickPickItem } from "vscode";
import { t } from "./l10n";
import type { RoleState } from "./protocol";

export interface RoleItem extends QuickPickItem {
  role: string;
}

export function roleItems({ role, roles }: RoleState): RoleItem[] {
  return roles.map(({ name, description, models }) => ({
    role: name,
    label: name,
    description: name === role ? t("selected") : "",
    detail: [description, models.join(", ")].filter(Boolean).join(" · "),
  }));
}
