// How the documents of a review are told apart.

import type { Uri } from "vscode";

/** Of the texts that only a review has. */
export const SCHEME = "odin-review";

export function sameUri(one: Uri, two: Uri): boolean {
  return one.toString() === two.toString();
}
