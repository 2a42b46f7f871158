// Text of models and commands, made safe to look at: nothing in it is invisible, turns lines around, or speaks to a terminal.

import { numberOf, t } from "../l10n";

const [ESC, BELL, CSI, OSC, END] = ["\u001b", "\u0007", "\u009b", "\u009d", "\u009c"];
const TERMINAL_CODE = new RegExp(
  [
    `(?:${ESC}\\]|${OSC})[^${BELL}${ESC}${END}]*(?:${BELL}|${ESC}\\\\|${END})`,
    `(?:${ESC}\\[|${CSI})[0-?]*[ -/]*[@-~]`,
    `${ESC}[PX^_][^${ESC}]*${ESC}\\\\`,
    `${ESC}[ -/]*[0-~]`,
  ].join("|"),
  "g",
);
// Joiners and the signs that ask for an emoji belong to words and emoji; in a command they only hide.
const BELONGS = String.raw`(?<=[^\x00-\x7f\s])[\u200c\u200d](?![\x00-\x7f])|(?<=\p{Emoji})[\ufe0e\ufe0f]`;
const HIDDEN = new RegExp(
  String.raw`(?![\t\n]|${BELONGS})[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]`,
  "gu",
);
const HIDDEN_IN_COMMANDS = /(?![\t\n ])[\p{Cc}\p{Cf}\p{Cs}\p{Z}\p{Default_Ignorable_Code_Point}]/gu;
/** Characters of a name, a title or a label that are shown. */
const MOST_OF_LABEL = 900;
/** Stands for the end of a line where there is only one: what follows it must not pass for a part of it. */
const LINE_BREAK = " ⏎ ";

/** For reading: codes for terminals are left out, what cannot be seen has a name. */
export function readable(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(TERMINAL_CODE, "").replace(HIDDEN, named);
}

/** One line: a name, a title, a label. If it is cut, it says so. */
export function readableLine(text: string, most = MOST_OF_LABEL): string {
  const line = readable(
    text
      .replace(/^[\r\n]+|[\r\n]+$/g, "")
      .replace(/\r?\n/g, LINE_BREAK)
      .replaceAll("\t", " "),
  );
  const characters = [...line];
  if (characters.length <= most) return line;
  return `${characters.slice(0, most).join("")}… (${t("{0} characters more", numberOf(characters.length - most))})`;
}

/** For a message: VS Code makes links, also to commands, of what looks like one. */
export function withoutLinks(text: string): string {
  return text.replaceAll("](", "] (");
}

/** For a label: VS Code makes icons of what looks like one. */
export function withoutIcons(text: string): string {
  return text.replaceAll("$(", "$ (");
}

/** Words that Markdown leaves as they are; its own way to do so has them in one line that never breaks. */
export function escaped(words: string): string {
  return words.replace(/[!-/:-@[-`{-~]/g, "\\$&").replaceAll("\n", "\n\n");
}

/** For deciding on it: nothing is left out. Parts that are marked stand for one character that cannot be seen. */
export function exact(text: string): { text: string; isMarked: boolean }[] {
  const parts: { text: string; isMarked: boolean }[] = [];
  let end = 0;
  for (const match of text.matchAll(HIDDEN_IN_COMMANDS)) {
    if (match.index > end) parts.push({ text: text.slice(end, match.index), isMarked: false });
    parts.push({ text: named(match[0]), isMarked: true });
    end = match.index + match[0].length;
  }
  if (end < text.length) parts.push({ text: text.slice(end), isMarked: false });
  return parts;
}

function named(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  if (code === 0x7f) return "\u2421";
  return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
}
