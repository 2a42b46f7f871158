// Whether the problems that VS Code shows are about the text as it stands: they have no versions, and until a server has
// looked at a change the old ones stay where they were. This is the one place where it is decided, by a rule of thumb:
//
// - The document is in a tab: servers say nothing about others.
// - Since it changed, VS Code has told of problems in it, be they the same. So it has for every other document of the
//   language that has changed since it was told of: a change there may show here.
// - Since then, nobody has said anything about the language for 300 ms: several servers come one after the other. It is
//   1.5 s where only other documents have changed and nothing was said about this one: some servers look at these late,
//   and do not tell of what is the same.

import { Emitter } from "../emitter";

const QUIET_MS = 300;
const QUIET_ABOUT_OTHERS_MS = 1500;
/** A language of which nobody has said anything for so long has nobody. */
const SILENT_MS = 1000;

interface Known {
  language: string;
  /** Since its last change, and ever. */
  isTold: boolean;
  wasTold: boolean;
  /** How many changes of the language there had been when it was last told of. */
  toldAfter: number;
}

export class Settling {
  readonly #documents = new Map<string, Known>();
  /** How often documents of a language have changed. */
  readonly #changes = new Map<string, number>();
  /** When something was last said about a language. */
  readonly #lastTold = new Map<string, number>();
  /** Languages that were waited for, and nobody has ever said anything about them. */
  readonly #silent = new Set<string>();
  readonly #telling = new Emitter<void>();

  constructor(private readonly isInTab: (uri: string) => boolean) {}

  opened(uri: string, languageId: string): void {
    this.#documents.set(uri, { language: familyOf(languageId), isTold: false, wasTold: false, toldAfter: 0 });
  }

  changed(uri: string): void {
    const known = this.#documents.get(uri);
    if (known) {
      known.isTold = false;
      this.#changes.set(known.language, this.#changesOf(known.language) + 1);
    }
  }

  closed(uri: string): void {
    this.#documents.delete(uri);
  }

  told(uris: readonly string[]): void {
    for (const known of uris.map((it) => this.#documents.get(it))) {
      if (known) {
        known.isTold = true;
        known.wasTold = true;
        known.toldAfter = this.#changesOf(known.language);
        this.#lastTold.set(known.language, Date.now());
        this.#silent.delete(known.language);
      }
    }
    this.#telling.fire();
  }

  isSettled(uri: string): boolean {
    return this.#settlesIn(uri) === 0;
  }

  /** Wait for it; `false`: not in this time. Nobody is waited for who will not come. */
  async settles(uri: string, patienceMs: number): Promise<boolean> {
    const language = this.#documents.get(uri)?.language;
    if (!language || !this.isInTab(uri) || this.#silent.has(language)) {
      return false;
    }
    const deadline = Date.now() + patienceMs;
    for (let left = patienceMs; !this.isSettled(uri) && left > 0; left = deadline - Date.now()) {
      await this.#toldWithin(Math.min(this.#settlesIn(uri), left));
    }
    if (patienceMs >= SILENT_MS && !this.#lastTold.has(language)) {
      this.#silent.add(language);
    }
    return this.isSettled(uri);
  }

  /** After how many milliseconds, if nothing happens in the meantime. */
  #settlesIn(uri: string): number {
    const known = this.#documents.get(uri);
    if (!known?.isTold || !this.isInTab(uri) || this.#isAwaited(known.language)) {
      return Number.POSITIVE_INFINITY;
    }
    const quiet = known.toldAfter === this.#changesOf(known.language) ? QUIET_MS : QUIET_ABOUT_OTHERS_MS;
    return Math.max(0, (this.#lastTold.get(known.language) ?? 0) + quiet - Date.now());
  }

  #changesOf(language: string): number {
    return this.#changes.get(language) ?? 0;
  }

  #isAwaited(language: string): boolean {
    const others = [...this.#documents].filter(([, it]) => it.language === language && it.wasTold && !it.isTold);
    return others.some(([uri]) => this.isInTab(uri));
  }

  #toldWithin(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        subscription.dispose();
        resolve();
      };
      const timer = setTimeout(done, ms);
      const subscription = this.#telling.event(done);
    });
  }
}

/** Languages that one server has together. */
function familyOf(languageId: string): string {
  return /^(java|type)script/.test(languageId) ? "typescript" : languageId;
}
