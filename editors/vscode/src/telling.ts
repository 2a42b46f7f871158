// Where VS Code shows words for Odin outside of the chat's page: the only place that has it do so. What others wrote is
// made fit to be shown on its way. What is chosen is what was given, not what was shown of it.

import {
  CodeLens,
  type Command,
  commands,
  MarkdownString,
  type MessageOptions,
  ProgressLocation,
  type ProgressOptions,
  type QuickPick,
  type QuickPickItem,
  type QuickPickOptions,
  type Range,
  type TreeItem,
  type TreeView,
  type Uri,
  window,
} from "vscode";
import { escaped, readable, readableLine, withoutIcons, withoutLinks } from "./chat/text";

type Level = "info" | "warning" | "error";

const SHOW = {
  info: (text: string, ...actions: string[]) => window.showInformationMessage(text, ...actions),
  warning: (text: string, ...actions: string[]) => window.showWarningMessage(text, ...actions),
  error: (text: string, ...actions: string[]) => window.showErrorMessage(text, ...actions),
};

/** A message with buttons; the one that was chosen. */
export async function tellUser(level: Level, text: string, ...actions: string[]): Promise<string | undefined> {
  return chosenOf(actions, (shown) => SHOW[level](messageOf(text), ...shown));
}

/** The same in the middle of the window, until it is answered. */
export async function askUser(
  text: string,
  { detail }: Pick<MessageOptions, "detail">,
  ...actions: string[]
): Promise<string | undefined> {
  const options = { modal: true, ...(detail === undefined ? {} : { detail: readable(detail) }) };
  return chosenOf(actions, (shown) => window.showWarningMessage(messageOf(text), options, ...shown));
}

/** In the status bar, for a moment. */
export function tellUserBriefly(text: string, ms: number): void {
  window.setStatusBarMessage(labelOf(text), ms);
}

export async function askForText(about: {
  title: string;
  prompt?: string;
  placeHolder?: string;
  value?: string;
  ignoreFocusOut?: boolean;
  validateInput?(text: string): string | undefined;
}): Promise<string | undefined> {
  return window.showInputBox({ ...about, ...fitted(about, ["title", "prompt", "placeHolder"]) });
}

export async function chooseFrom<Item extends QuickPickItem>(
  items: readonly Item[] | Promise<readonly Item[]>,
  options: QuickPickOptions & { canPickMany: true },
): Promise<Item[] | undefined>;
export async function chooseFrom<Item extends QuickPickItem>(
  items: readonly Item[] | Promise<readonly Item[]>,
  options: QuickPickOptions,
): Promise<Item | undefined>;
export async function chooseFrom<Item extends QuickPickItem>(
  items: readonly Item[] | Promise<readonly Item[]>,
  options: QuickPickOptions,
): Promise<Item | Item[] | undefined> {
  const shown = Promise.resolve(items).then((given) => given.map((item) => ({ ...itemOf(item), item })));
  const chosen = (await window.showQuickPick(shown, {
    ...options,
    ...fitted(options, ["title", "placeHolder"]),
  })) as unknown as { item: Item } | { item: Item }[] | undefined;
  return Array.isArray(chosen) ? chosen.map((it) => it.item) : chosen?.item;
}

/** A list that is filled as it is searched: its items go through `itemOf`. */
export function picker<Item extends QuickPickItem>(title: string, placeholder: string): QuickPick<Item> {
  return Object.assign(window.createQuickPick<Item>(), {
    title: labelOf(title),
    placeholder: readableLine(placeholder),
  });
}

/** What the user chooses in it; nothing if the user leaves. */
export function chosenFrom<Item extends QuickPickItem>(list: QuickPick<Item>): Promise<Item | undefined> {
  return new Promise((resolve) => {
    list.onDidAccept(() => resolve(list.selectedItems[0]));
    list.onDidHide(() => resolve(undefined));
    list.show();
  });
}

export function itemOf<Item extends QuickPickItem>(item: Item): Item {
  return { ...item, ...fitted(item, ["label", "description", "detail"]) };
}

/** While something goes on; what is told of it on the way is made fit, too. */
export function during<Result>(
  options: Pick<ProgressOptions, "location" | "cancellable"> & { title: string },
  work: (tell: (message: string) => void, cancelled: (run: () => void) => void) => Thenable<Result>,
): Thenable<Result> {
  return window.withProgress({ ...options, title: messageOf(options.title) }, (progress, token) =>
    work(
      (message) => progress.report({ message: messageOf(message) }),
      (run) => token.onCancellationRequested(run),
    ),
  );
}

/** A notification that has links, which are Odin's own, until something is over. */
export function notifyUntil(text: string, links: string, over: Promise<unknown>): Thenable<unknown> {
  const title = `${messageOf(text)} ${links}`;
  return window.withProgress({ location: ProgressLocation.Notification, title }, () => over);
}

export function treeItemOf(item: TreeItem): TreeItem {
  if (typeof item.label === "string") item.label = labelOf(item.label);
  if (typeof item.description === "string") item.description = labelOf(item.description);
  if (typeof item.tooltip === "string") item.tooltip = readable(item.tooltip);
  return item;
}

/** Words beside the title of a view. */
export function describe(view: Pick<TreeView<unknown>, "description">, words: string | undefined): void {
  const shown = words === undefined ? undefined : readableLine(words);
  if (view.description !== shown) view.description = shown;
}

/** `icon` comes before the words: a `$(…)` of Odin's own. */
export function lensOf(range: Range, { title, ...command }: Command, icon = ""): CodeLens {
  return new CodeLens(range, { ...command, title: `${icon}${labelOf(title)}` });
}

export async function showDiffAs(title: string, left: Uri, right: Uri, options: object): Promise<void> {
  await commands.executeCommand("vscode.diff", left, right, readableLine(title), options);
}

/** Words as they are, and blocks of code, as far as there are any. */
export function markdownOf(
  pieces: readonly ({ words: string } | { code: string })[],
  language: string,
): MarkdownString {
  const body = new MarkdownString();
  for (const piece of pieces) {
    if ("code" in piece) body.appendCodeblock(readable(piece.code), language);
    else body.appendMarkdown(`${escaped(readable(piece.words))}\n\n`);
  }
  return body;
}

async function chosenOf(
  actions: readonly string[],
  show: (shown: readonly string[]) => Thenable<string | undefined>,
): Promise<string | undefined> {
  const shown = actions.map(labelOf);
  const chosen = await show(shown);
  return chosen === undefined ? undefined : actions[shown.indexOf(chosen)];
}

function messageOf(text: string): string {
  return withoutLinks(readableLine(text));
}

function labelOf(text: string): string {
  return withoutIcons(readableLine(text));
}

function fitted<Given extends object>(given: Given, names: readonly string[]): Partial<Given> {
  const texts = Object.entries(given).filter(([name, it]) => names.includes(name) && typeof it === "string");
  return Object.fromEntries(texts.map(([name, it]) => [name, labelOf(it as string)])) as Partial<Given>;
}
