// Names of models in the user's settings.json, as the accounts have them. VS Code itself offers those that Odin's settings
// name as examples, and the server completes odinconfig.json.

import { CompletionItem, CompletionItemKind, CompletionList, type Disposable, languages, Range } from "vscode";
import { readableLine } from "./chat/text";
import type { Odin } from "./odin";
import type { ModelState } from "./protocol";

const FILES = { language: "jsonc", pattern: "**/settings.json" };
const MODEL = /"odin\.(?:model|smallModel|subagentModel)"\s*:\s*"([^"\\]*)$/;
const MODELS = /"odin\.fallbackModels"\s*:\s*\[(?:\s*"[^"]*"\s*,)*\s*"([^"\\]*)$/;

interface Manifest {
  contributes?: { configuration?: { properties: Record<string, { examples?: string[] }> }[] };
}

export function completeModels(odin: Odin, manifest: Manifest): Disposable {
  const groups = manifest.contributes?.configuration ?? [];
  const examples = new Set(groups.flatMap((it) => it.properties["odin.model"]?.examples ?? []));
  const provider = {
    provideCompletionItems: async (
      document: { lineAt(line: number): { text: string } },
      { line, character }: { line: number; character: number },
    ): Promise<CompletionList | undefined> => {
      const typed = typedModel(document.lineAt(line).text.slice(0, character));
      if (typed === undefined || odin.state.kind !== "ready") return undefined;
      const known = namesOf(await odin.execute("odin.model", { askAccounts: "beside" }), examples);
      const place = new Range(line, character - typed.length, line, character);
      const items = known.map(({ name, title }) => {
        const item = new CompletionItem(name, CompletionItemKind.Value);
        return Object.assign(item, { range: place, detail: readableLine(title) });
      });
      return new CompletionList(items, true);
    },
  };
  return languages.registerCompletionItemProvider(FILES, provider, '"', "/");
}

/** What is half written of a model's name at the end of a line; nothing if the setting is another one. */
export function typedModel(before: string): string | undefined {
  return (MODEL.exec(before) ?? MODELS.exec(before))?.[1];
}

/** Each once, with what its provider calls it. */
export function namesOf(now: ModelState, offered: ReadonlySet<string>): { name: string; title: string }[] {
  const names = new Map(now.available.map((it) => [it, ""]));
  for (const { title: account, models = [] } of now.accounts ?? []) {
    for (const { ref, title } of models) if (!names.has(ref)) names.set(ref, title || account);
  }
  return [...names].filter(([name]) => !offered.has(name)).map(([name, title]) => ({ name, title }));
}
