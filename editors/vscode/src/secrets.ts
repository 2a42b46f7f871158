// The user's API keys: in VS Code's secret storage, and from there to the server in memory.

import type { SecretStorage } from "vscode";
import { t } from "./l10n";

export const PROVIDERS = { anthropic: "Anthropic", google: "Google", openai: "OpenAI" } as const;
export type Provider = keyof typeof PROVIDERS;

const PROVIDER_IDS = Object.keys(PROVIDERS) as Provider[];

export class Keys {
  /** What was read last, for whoever must not let it out. */
  #known: string[] = [];

  constructor(private readonly storage: SecretStorage) {}

  get known(): readonly string[] {
    return this.#known;
  }

  async all(): Promise<Partial<Record<Provider, string>>> {
    const found: Partial<Record<Provider, string>> = {};
    for (const provider of PROVIDER_IDS) {
      const key = await this.storage.get(nameOf(provider));
      if (key) {
        found[provider] = key;
      }
    }
    this.#known = [...new Set([...this.#known, ...Object.values(found)])];
    return found;
  }

  /** Somebody is about to see it who must not let it out either. */
  hide(key: string): void {
    this.#known = [...new Set([...this.#known, key])];
  }

  async set(provider: Provider, key: string): Promise<void> {
    this.hide(key);
    await this.storage.store(nameOf(provider), key);
  }

  async remove(provider: Provider): Promise<void> {
    await this.storage.delete(nameOf(provider));
  }

  isOurs(name: string): boolean {
    return PROVIDER_IDS.some((provider) => nameOf(provider) === name);
  }
}

/** Why this cannot be a key, if it cannot. */
export function keyProblem(text: string): string | undefined {
  const key = text.trim();
  if (!key) {
    return t("Enter an API key.");
  }
  return /[^\x21-\x7e]/.test(key) ? t("An API key has no spaces and no special characters.") : undefined;
}

function nameOf(provider: Provider): string {
  return `odin.key.${provider}`;
}
