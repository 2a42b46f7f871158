// Files that sessions are exported to.

import type { SessionSummary } from "./protocol";

const NOT_IN_NAMES = /[^\p{L}\p{N}._-]+/gu;
const MOST = 100;

/** A name that every file system takes. */
export function exportName({ title, sessionId }: SessionSummary, extension: string): string {
  const name = title
    .replace(NOT_IN_NAMES, " ")
    .slice(0, MOST)
    .replace(/^[. ]+|[. ]+$/g, "");
  return `${name || sessionId}.${extension}`;
}
