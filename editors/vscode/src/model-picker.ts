// The list from which a model is chosen: what is known shows at once, and what servers on this computer and accounts have
// when they have said so.

import { type QuickPick, type QuickPickItem, ThemeIcon } from "vscode";
import { inBackground } from "./background";
import { t } from "./l10n";
import type { ModelItem } from "./models";
import type { Odin } from "./odin";
import type { ModelParams, ModelState } from "./protocol";
import { chosenFrom, itemOf, picker } from "./telling";

export type ModelRow = QuickPickItem & Partial<ModelItem> & { run?: () => unknown };

export interface ChosenRow {
  row: ModelRow;
  /** What was known then. */
  now: ModelState;
}

/** The row that was chosen; nothing if the user leaves. */
export async function chooseModel(
  odin: Odin,
  rowsOf: (now: ModelState) => readonly ModelRow[],
): Promise<ChosenRow | undefined> {
  const list = new GrowingList(odin, rowsOf, await odin.execute("odin.model", {}));
  try {
    return await list.chosen();
  } finally {
    list.close();
  }
}

class GrowingList {
  readonly #list: QuickPick<ModelRow>;
  #asking = 0;
  #isClosed = false;

  constructor(
    private readonly odin: Odin,
    private readonly rowsOf: (now: ModelState) => readonly ModelRow[],
    private now: ModelState,
  ) {
    this.#list = picker<ModelRow>(t("Select Model"), t("Applies from the next turn"));
    const again = { iconPath: new ThemeIcon("refresh"), tooltip: t("Ask Accounts Again") };
    Object.assign(this.#list, { buttons: [again], keepScrollPosition: true, matchOnDetail: true });
  }

  async chosen(): Promise<ChosenRow | undefined> {
    this.#show();
    inBackground(this.#ask({ findLocal: true }));
    inBackground(this.#ask({ askAccounts: "wait" }));
    this.#list.onDidTriggerButton(() => inBackground(this.#ask({ askAccounts: "anew" })));
    const row = await chosenFrom(this.#list);
    return row && { row, now: this.now };
  }

  close(): void {
    this.#isClosed = true;
    this.#list.dispose();
  }

  async #ask(about: ModelParams): Promise<void> {
    this.#list.busy = ++this.#asking > 0;
    try {
      const said = await this.odin.execute("odin.model", about);
      const local = said.local ?? this.now.local;
      this.now = { ...said, ...(local && { local }) };
      if (!this.#isClosed) this.#show();
    } finally {
      this.#list.busy = --this.#asking > 0;
    }
  }

  /** What is marked stays so; at first it is the model that counts now. */
  #show(): void {
    const marked = this.#list.activeItems?.[0];
    const rows = this.rowsOf(this.now);
    const shown = rows.map(itemOf);
    const place = rows.findIndex((it) => (marked ? it.label === marked.label : it.isSelected));
    const active = shown[place];
    Object.assign(this.#list, { items: shown, activeItems: active ? [active] : [] });
  }
}
