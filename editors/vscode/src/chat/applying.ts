// Blocks of code in answers, as changes of files.

const NAMED =
  /(?:^|[\s:]|(?:title|file|path|filename)=)["']?((?:\.?[\w@+-][\w.@+-]*\/)*[\w@+-][\w.@+-]*\.\w+)["']?(?=\s|$)/;

/** The file that a block names behind its fence: `python src/a.py`, `python:src/a.py`, `py title="a.py"`. */
export function fileIn(info: string): string | undefined {
  return NAMED.exec(info)?.[1];
}

/** What is asked for, with a fence that the code does not end. */
export function applyWords(code: string, info: string, file: string): string {
  const longest = Math.max(2, ...(code.match(/`+/g) ?? []).map((it) => it.length));
  const fence = "`".repeat(longest + 1);
  const language = /^\w*/.exec(info)?.[0] ?? "";
  return `Apply this code to \`${file}\`, and change nothing else:\n\n${fence}${language}\n${code}\n${fence}`;
}
