// A key as it is typed: it is checked before it is kept, and what is wrong with it is told where it was typed.

import type { InputBox } from "vscode";
import { readableLine } from "./chat/text";
import type { CheckedKey } from "./protocol";
import { keyProblem } from "./secrets";
import { wordsOf } from "./words";

type Box = Pick<
  InputBox,
  | "value"
  | "validationMessage"
  | "busy"
  | "enabled"
  | "onDidAccept"
  | "onDidChangeValue"
  | "onDidHide"
  | "show"
  | "dispose"
>;

export interface TypedKey {
  key: string;
  checked: CheckedKey;
}

/** A key that its provider does not refuse; nothing, if the user gives up. What cannot be checked is left open. */
export async function typedKey(box: Box, check: (key: string) => Promise<CheckedKey>): Promise<TypedKey | undefined> {
  const accept = async (): Promise<TypedKey | undefined> => {
    const key = box.value.trim();
    box.validationMessage = keyProblem(key);
    if (box.validationMessage) return undefined;
    box.busy = true;
    box.enabled = false;
    const checked = await check(key).catch((error): CheckedKey => ({ verdict: "unknown", detail: wordsOf(error) }));
    box.busy = false;
    box.enabled = true;
    if (checked.verdict !== "refused") return { key, checked };
    box.validationMessage = readableLine(checked.detail ?? "");
    return undefined;
  };
  try {
    return await new Promise((resolve, reject) => {
      box.onDidChangeValue((value) => {
        box.validationMessage = value ? keyProblem(value) : undefined;
      });
      box.onDidAccept(() => accept().then((typed) => typed && resolve(typed), reject));
      box.onDidHide(() => resolve(undefined));
      box.show();
    });
  } finally {
    box.dispose();
  }
}
