// Edits that a model is still writing, as far as the JSON of its call has come.

import { textsIn } from "../session/drafts";

export interface Writing {
  /** The passage that goes, once all of it is known. */
  old: string;
  /** What takes its place, as far as it is written. */
  text: string;
}

/** The names of the tools' arguments tell what a text is. */
export function editsIn(json: string): Writing[] {
  const edits: Writing[] = [];
  let old = "";
  for (const { name, text } of textsIn(json)) {
    if (name === "old_string") {
      old = text;
    } else if (name === "new_string" || name === "content") {
      edits.push({ old, text });
      old = "";
    }
  }
  return edits;
}
