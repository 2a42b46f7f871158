// Something has changed that counts only when the server is started: start it again, but in no turn unasked.

import { inBackground } from "../background";
import type { Odin } from "../odin";
import type { ServerLife } from "./life";

export interface Renewing {
  life: Pick<ServerLife, "state" | "restart" | "onEvent">;
  isBusy(): boolean;
  /** Whether to end the turn that runs, for the sake of `what`. */
  mayInterrupt(what: string): Promise<boolean>;
}

export class Renewal {
  #waiting: ReturnType<Odin["onEvent"]> | undefined;

  constructor(private readonly renewing: Renewing) {}

  /** `what` has changed, in words for the user. */
  async because(what: string): Promise<void> {
    const { life } = this.renewing;
    if (life.state.kind === "stopped") {
      return;
    }
    if (!this.renewing.isBusy() || (await this.renewing.mayInterrupt(what))) {
      await this.#restart();
    } else {
      this.#waiting ??= life.onEvent(({ event }) => {
        if (event.kind === "turnFinished" && !this.renewing.isBusy()) {
          inBackground(this.#restart());
        }
      });
    }
  }

  dispose(): void {
    this.#waiting?.dispose();
    this.#waiting = undefined;
  }

  async #restart(): Promise<void> {
    this.dispose();
    await this.renewing.life.restart().catch(() => {}); // told as its state
  }
}
