// Every text that a user reads can be translated: a bundle in which each stands in brackets leaves none without.

import { readFileSync } from "node:fs";
import { afterEach, expect, test } from "vitest";
import { BUNDLE, bundle, examine, sources, written } from "../l10n.mjs";
import manifest from "../package.json";
import names from "../package.nls.json";
import { speak, t, tn } from "../src/l10n";
import { ago, short } from "../src/words";

/** What the server, models and machines read, by the file that it stands in. */
const NOT_READ: Readonly<Record<string, RegExp>> = {
  "src/chat/applying.ts": /^Apply this code to/,
  "src/chat/page.ts": /^(?:default-src|<!doctype)/,
  "src/files.ts": /^(?:it is not open|it has unsaved changes|VS Code has not (?:saved|read) it)/,
  "src/intelligence/edits.ts": /^the edit has snippets/,
  "src/intelligence/questions.ts": /^the call hierarchy of/,
  "src/intelligence/servers.ts": /^… in VS Code$/,
  "src/plans.ts": /^<!-- A plan for Odin/,
  "src/review/desk.ts": /^the user deleted the file$/,
  "src/review/outcomes.ts": /^the user typed there meanwhile$/,
  "src/server/finding.ts": /^Scripts$/,
  "src/server/installing.ts": /^\nimport importlib/,
  "src/setting-commands.ts": /^provider\/model\[@effort\]$/,
  "src/settings.ts": /^(?:Library|Application Support|Local)$/,
  "webview/pictures.ts": /^Files$/,
};
const NAMES = /^(?:\$\([\w~-]+\) )?(?:Odin|VS Code|Anthropic|Google|OpenAI)$/;

afterEach(() => speak(undefined, "en"));

test("a text has its values in its places, and numbers as the language writes them", () => {
  expect(t("{1} of {0}, {0}", "a", 2)).toBe("2 of a, a");
  expect(tn(1, "{0} file of {1}", "{0} files of {1}", "x")).toBe("1 file of x");
  expect(tn(1200, "{0} file", "{0} files")).toBe("1,200 files");
  speak({ "{0} files": "{0} Dateien" }, "de");
  expect([tn(1200, "{0} file", "{0} files"), t("Ask"), ago(0, 7200), short(12_300_000)]).toEqual([
    "1.200 Dateien",
    "Ask",
    "vor 2 Stunden",
    "12,3\u00a0Mio.",
  ]);
});

test("the bundle has what the sources say", () => {
  expect(readFileSync(BUNDLE, "utf8"), "run `node l10n.mjs`").toBe(written(bundle()));
});

test.each(sources())("%s says nothing that cannot be translated", (file) => {
  const { faults, literals } = examine(readFileSync(file, "utf8"), file);
  const unknown = literals.filter((it) => !NAMES.test(it) && !NOT_READ[file]?.test(it));
  expect([...faults, ...unknown]).toEqual([]);
});

test.each([
  ["window.showInformationMessage('Odin: all is well')", "Odin: all is well"],
  ["const item = { label: 'delete' }", "delete"],
  ["button('Undo', run)", "Undo"],
  ["h('p', {}, `many files`)", "many files"],
  ["h('p', { 'aria-label': 'code' })", "code"],
  ["title.textContent = 'Done'", "Done"],
])("%s is found", (source, literal) => {
  expect(examine(source, "a.ts").literals).toEqual([literal]);
});

test.each(["const a = () => t(text)", "const a = t('Ask')", "const a = () => t(`files`)"])(
  "%s is refused",
  (source) => {
    expect(examine(source, "a.ts").faults).toHaveLength(1);
  },
);

test("what VS Code shows of the extension is in package.nls.json, and nothing else is", () => {
  const used: string[] = [];
  const literals: string[] = [];
  const look = (node: unknown, key = ""): void => {
    if (typeof node === "object" && node !== null) {
      for (const [name, it] of Object.entries(node)) look(it, /^\d+$/.test(name) ? key : name);
    } else if (typeof node === "string" && SHOWN.test(key)) {
      const name = /^%(.+)%$/.exec(node)?.[1];
      if (name) used.push(name);
      else if (!NAMES.test(node)) literals.push(`${key}: ${node}`);
    }
  };
  look({ description: manifest.description, capabilities: manifest.capabilities });
  look({ ...manifest.contributes, keybindings: [], menus: {} });
  expect(literals).toEqual([]);
  expect([...new Set(used)].sort()).toEqual(Object.keys(names).sort());
});

const SHOWN = /^(?:altText|category|description|enumDescriptions|label|markdownDescription|name|title)$/;
