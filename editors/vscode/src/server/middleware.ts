// What happens between VS Code and the server: turns that code actions and lenses begin, documents that it shows.

import { randomUUID } from "node:crypto";
import { commands, Uri, ViewColumn, window } from "vscode";
import type { Middleware } from "vscode-languageclient/node";
import { inBackground } from "../background";
import { t } from "../l10n";
import type { Mode, Odin, Turns } from "../odin";
import type { MessageParams, OpenTurnParams, PromptParams } from "../protocol";
import { askForText, tellUser } from "../telling";
import { modeName, wordsOf } from "../words";

const MODES: Partial<Record<string, Mode>> = {
  "odin.ask": "ask_mode",
  "odin.plan": "plan_mode",
  "odin.edit": "edit_mode",
};
const OTHER_TURNS = new Set(["odin.init", "odin.executePlan", "odin.plan.refuse"]);

export interface Surroundings {
  odin(): Odin;
  turns(): Turns;
  /** Have the chat on the screen, the focus where it is. */
  showChat(): void;
  /** Have the session in the chat, where the turn begins. */
  openTurn(turn: OpenTurnParams): Promise<void>;
}

export function middlewareFor(surroundings: Surroundings): Middleware {
  return {
    executeCommand: async (command, parameters, next) => {
      const argument: object = parameters[0] ?? {};
      const mode = MODES[command];
      if (mode) {
        begin(surroundings, mode, argument as MessageParams);
      } else if (command === "odin.prompt") {
        await ask(surroundings, argument as PromptParams);
      } else if (OTHER_TURNS.has(command)) {
        surroundings.showChat();
        tellFailure(surroundings.odin().execute(command as "odin.init", { turnId: randomUUID(), ...argument }));
      } else if (command === "odin.provenance.open") {
        tellFailure(surroundings.openTurn(argument as OpenTurnParams));
      } else if (command === "odin.undoTurn") {
        await commands.executeCommand("odin.vscode.undoTurn", argument);
      } else {
        return next(command, parameters);
      }
    },
    window: {
      showDocument: async (params, token, next) => (params.external ? next(params, token) : showBeside(params.uri)),
    },
  };
}

/** In its own column an editor that somebody may be typing into would be hidden. */
async function showBeside(address: string): Promise<{ success: boolean }> {
  const uri = Uri.parse(address);
  const shown = window.visibleTextEditors.find((it) => it.document.uri.toString() === uri.toString());
  const free = window.activeTextEditor ? ViewColumn.Beside : ViewColumn.Active;
  try {
    await window.showTextDocument(uri, { preserveFocus: true, viewColumn: shown?.viewColumn ?? free });
    return { success: true };
  } catch {
    return { success: false };
  }
}

/** Nobody waits for a turn: VS Code would show the code action as being applied all the while. */
function begin(
  surroundings: Surroundings,
  mode: Mode,
  message: Pick<MessageParams, "text" | "context" | "typed">,
): void {
  surroundings.showChat();
  inBackground(surroundings.turns().say(mode, message.text, message.context, [], undefined, message.typed));
}

/** An edit is asked for where the text is. */
async function ask(surroundings: Surroundings, { mode, context }: PromptParams): Promise<void> {
  if (mode === "edit") {
    await commands.executeCommand("odin.vscode.editHere");
    return;
  }
  const title = t("Odin: {0}", modeName(`${mode}_mode`));
  const prompt = mode === "plan" ? t("What should Odin plan here?") : t("What do you want to know?");
  const text = await askForText({ title, prompt, ignoreFocusOut: true });
  if (text?.trim()) begin(surroundings, `${mode}_mode`, { text, context });
}

function tellFailure(work: Promise<unknown>): void {
  work.catch((error: unknown) => tellUser("error", t("Odin: {0}", wordsOf(error))));
}
