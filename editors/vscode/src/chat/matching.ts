// Which names fit what was typed after `@`: the letters in their order, better together and at the beginnings of words.

const WORD_START = /[/\\._\s-]/;

/** How well the name fits; nothing if it does not. */
export function score(name: string, typed: string): number | undefined {
  const lower = name.toLowerCase();
  const file = name.lastIndexOf("/") + 1;
  let total = 0;
  let from = typed.includes("/") || !isPart(lower.slice(file), typed) ? 0 : file;
  let last = -2;
  for (const letter of typed.toLowerCase()) {
    const at = lower.indexOf(letter, from);
    if (at < 0) return undefined;
    const startsWord = at === 0 || WORD_START.test(name.charAt(at - 1)) || isHump(name, at);
    total += (at === last + 1 ? 4 : 0) + (startsWord ? 3 : 0) + (at >= file ? 2 : 0);
    last = at;
    from = at + 1;
  }
  return total - name.length / 100;
}

/** The best of them, the very best first. */
export function best<T>(items: readonly T[], typed: string, nameOf: (item: T) => string, most: number): T[] {
  return items
    .map((item) => ({ item, value: score(nameOf(item), typed) }))
    .filter((it): it is { item: T; value: number } => it.value !== undefined)
    .sort((left, right) => right.value - left.value)
    .slice(0, most)
    .map((it) => it.item);
}

/** As it is mentioned after `@`, in every front end. */
export function mentioned(name: string): string {
  return /\s/.test(name) ? `"${name}"` : name;
}

/** Something of the workspace, by its path below the folder. */
export interface Named<Place> {
  uri: Place;
  /** Of a folder it ends with a slash. */
  name: string;
}

/** The folders that the files are in, up to the workspace's own. */
export function foldersOf<Place>(files: readonly Named<Place>[], above: (uri: Place) => Place): Named<Place>[] {
  const found = new Map<string, Place>();
  for (const file of files) {
    let { uri } = file;
    for (let end = file.name.lastIndexOf("/"); end > 0; end = file.name.lastIndexOf("/", end - 1)) {
      const name = file.name.slice(0, end + 1);
      if (found.has(name)) break;
      uri = above(uri);
      found.set(name, uri);
    }
  }
  return [...found].map(([name, uri]) => ({ uri, name }));
}

function isPart(name: string, typed: string): boolean {
  let at = -1;
  for (const letter of typed.toLowerCase()) {
    at = name.indexOf(letter, at + 1);
    if (at < 0) return false;
  }
  return true;
}

function isHump(name: string, at: number): boolean {
  const letter = name.charAt(at);
  return letter !== letter.toLowerCase() && name.charAt(at - 1) === name.charAt(at - 1).toLowerCase();
}
