// Text of models and commands, made safe to look at: nothing in it is invisible, turns lines around, or speaks to a terminal.

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
// Joiners and the sign that asks for an emoji belong to words; in a command they only hide.
const HIDDEN = /(?![\t\n]|\u200c|\u200d|\ufe0f)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;
const HIDDEN_IN_COMMANDS = /(?![\t\n ])[\p{Cc}\p{Cf}\p{Z}\p{Default_Ignorable_Code_Point}]/gu;

/** For reading: codes for terminals are left out, what cannot be seen has a name. */
export function readable(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(TERMINAL_CODE, "").replace(HIDDEN, named);
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
