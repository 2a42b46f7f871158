// Which words lead somewhere: to the web, or to a file and a place in it, as `src/a.ts`, `src/a.ts:12:3`, `src/a.ts#L12-L20`.

export interface FilePlace {
  path: string;
  /** Counted from 0. */
  line?: number;
  lastLine?: number;
  column?: number;
}

const PLACE = /^(.+?)(?:#L(\d+)(?:-L?(\d+))?|:(\d+)(?::(\d+)|-(\d+))?)?$/;
const SCHEME = /^[a-z][a-z0-9+.-]+:/i;
const WEB = /^https?:\/\/[^\s\p{Cc}]+$/iu;
const NAME = /^[\w.@~+()[\] /\\-]*[\w)\]]$/u;

/** Whether a link leads to the web. Nothing else is handed to the system: any other scheme may run something. */
export function leadsToWeb(target: string): boolean {
  return WEB.test(target);
}

/** Of a link's target. */
export function placeOf(target: string): FilePlace | undefined {
  const text = SCHEME.test(target) && !/^[\w.-]+:\d/.test(target) ? undefined : decoded(target);
  const match = text?.match(PLACE);
  const path = match?.[1];
  if (!match || !path || path.startsWith("#") || path.startsWith("//") || path.startsWith("\\\\")) return undefined;
  const [, , hashFirst, hashLast, first, column, last] = match;
  const place: FilePlace = { path };
  const line = Number(hashFirst ?? first ?? 0);
  if (line > 0) place.line = line - 1;
  if (hashLast ?? last) place.lastLine = Number(hashLast ?? last) - 1;
  if (column) place.column = Number(column) - 1;
  return place;
}

/** Whether a piece of inline code could be the name of a file; only the workspace knows whether it is. */
export function mayNameFile(code: string): boolean {
  if (code.length > 300) return false;
  const place = placeOf(code);
  return place !== undefined && /[./\\]/.test(place.path) && NAME.test(place.path);
}

function decoded(target: string): string | undefined {
  try {
    return decodeURIComponent(target);
  } catch {
    return undefined;
  }
}
