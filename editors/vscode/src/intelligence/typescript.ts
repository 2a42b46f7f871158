// VS Code's own TypeScript service, asked directly: it knows files that nobody shows, on the text as it stands, and
// answers only when it has loaded their project.

import { commands, extensions, type TextDocument, workspace } from "vscode";
import type * as lsp from "vscode-languageclient/node";
import { diagnostic, type Found } from "./tsserver";

const EXTENSION = "vscode.typescript-language-features";
const COMMAND = "typescript.tsserverRequest";
/** In the words of the service; together all that it shows in an editor. */
const KINDS = ["syntacticDiagnosticsSync", "semanticDiagnosticsSync", "suggestionDiagnosticsSync"] as const;
const SETTINGS: Partial<Record<string, "typescript" | "javascript">> = {
  typescript: "typescript",
  typescriptreact: "typescript",
  javascript: "javascript",
  javascriptreact: "javascript",
};
const SOURCES = { typescript: "ts", javascript: "js" };

/** Whether it has the project of a document; `undefined`: it does not serve it. */
export async function hasProject(document: TextDocument): Promise<boolean | undefined> {
  return (await serves(document)) ? (await ask("semanticDiagnosticsSync", document)) !== undefined : undefined;
}

/** Its problems, on the text as it stands; `undefined`: it does not serve the document, or does not know. */
export async function diagnosticsOf(document: TextDocument): Promise<lsp.Diagnostic[] | undefined> {
  if (!(await serves(document))) {
    return undefined;
  }
  const answers = await Promise.all(KINDS.map((it) => ask(it, document)));
  if (answers.includes(undefined)) {
    return undefined;
  }
  return answers.flatMap((it) => it ?? []).map((it) => diagnostic(it, sourceOf(document)));
}

/** What it calls itself in the problems that VS Code shows. */
export function sourceOf({ languageId }: TextDocument): string | undefined {
  const setting = SETTINGS[languageId];
  return setting && SOURCES[setting];
}

/** Others serve these languages if the user has turned off its validation. */
async function serves(document: TextDocument): Promise<boolean> {
  const setting = SETTINGS[document.languageId];
  const extension = extensions.getExtension(EXTENSION);
  if (!setting || !extension || !workspace.getConfiguration(setting, document).get("validate.enable", true)) {
    return false;
  }
  await extension.activate();
  return true;
}

async function ask(question: (typeof KINDS)[number], document: TextDocument): Promise<Found[] | undefined> {
  try {
    const answer = await commands.executeCommand<{ body?: Found[] } | undefined>(
      COMMAND,
      question,
      { file: document.uri.fsPath },
      {},
    );
    return answer?.body;
  } catch {
    return undefined; // it has no project for the file, or has just ended
  }
}
