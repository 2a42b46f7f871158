// What went wrong with the server, told once, with what may help.

import { t } from "./l10n";
import type { ServerAction } from "./server/life";

interface Messages {
  error(text: string, ...titles: string[]): Thenable<string | undefined>;
  run(command: string): Thenable<unknown>;
}

export class Problems {
  /** Texts of messages that are still on the screen. */
  readonly #shown = new Set<string>();

  constructor(private readonly messages: Messages) {}

  async tell(why: string, actions: readonly ServerAction[]): Promise<void> {
    if (this.#shown.has(why)) {
      return;
    }
    this.#shown.add(why);
    try {
      const words = why.startsWith("Odin") ? why : t("Odin: {0}", why);
      const chosen = await this.messages.error(words, ...actions.map((it) => it.title));
      const action = actions.find((it) => it.title === chosen);
      if (action) {
        await this.messages.run(action.command);
      }
    } finally {
      this.#shown.delete(why);
    }
  }
}
