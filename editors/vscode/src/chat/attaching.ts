// What goes with the next message, chosen from a list that follows what is typed.

import * as path from "node:path";
import { type QuickPickItem, QuickPickItemKind, ThemeIcon, type Uri, window, workspace } from "vscode";
import { inBackground } from "../background";
import { t } from "../l10n";
import { itemOf, picker } from "../telling";
import type { Mentions } from "./mentions";
import type { Attachment, Completion, Picture } from "./messages";

const PAUSE_MS = 150;
const MOST = 50;
/** By the endings of their names. */
const PICTURES: Readonly<Record<string, string>> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
};
const ICONS: Readonly<Record<Completion["icon"], string>> = {
  command: "terminal",
  file: "file",
  folder: "folder",
  problems: "warning",
  selection: "selection",
  symbol: "symbol-method",
};

interface Choice extends QuickPickItem {
  attachment?: Attachment | undefined;
  isPictures?: boolean;
}

/** What the user chooses; nothing, if they would rather not. */
export async function chooseAttachments(
  mentions: Mentions,
): Promise<{ attachments: Attachment[]; pictures: Picture[] } | undefined> {
  const chosen = await choose(mentions);
  if (chosen?.isPictures) return { attachments: [], pictures: await choosePictures() };
  return chosen?.attachment && { attachments: [chosen.attachment], pictures: [] };
}

async function choose(mentions: Mentions): Promise<Choice | undefined> {
  const list = picker<Choice>(t("Add Context"), t("Files, folders and symbols to send with your message"));
  list.busy = true;
  let pause: NodeJS.Timeout | undefined;
  const look = async (): Promise<void> => {
    const word = list.value.trim();
    const found = (await mentions.complete(word, MOST)).map(choiceOf);
    if (word !== list.value.trim()) return;
    const separator = { label: "", kind: QuickPickItemKind.Separator };
    // Images have a list of their own: they need not be in the workspace.
    const images: Choice = { label: t("Images…"), iconPath: new ThemeIcon("file-media"), isPictures: true };
    list.items = word ? found : [images, separator, ...found];
    list.busy = false;
  };
  try {
    return await new Promise<Choice | undefined>((resolve) => {
      list.onDidChangeValue(() => {
        clearTimeout(pause);
        pause = setTimeout(() => inBackground(look()), PAUSE_MS);
      });
      list.onDidAccept(() => resolve(list.selectedItems[0]));
      list.onDidHide(() => resolve(undefined));
      list.show();
      inBackground(look());
    });
  } finally {
    clearTimeout(pause);
    list.dispose();
  }
}

/** What was found need not fit what was typed in VS Code's own eyes. */
function choiceOf({ word, detail, icon, attachment }: Completion): Choice {
  return itemOf({
    ...{ label: word, description: detail, iconPath: new ThemeIcon(ICONS[icon]), alwaysShow: true, attachment },
  });
}

async function choosePictures(): Promise<Picture[]> {
  const filters = { [t("Images")]: Object.keys(PICTURES) };
  const chosen = await window.showOpenDialog({ title: t("Add Images"), canSelectMany: true, filters });
  return Promise.all((chosen ?? []).map(read));
}

async function read(uri: Uri): Promise<Picture> {
  const name = path.posix.basename(uri.path);
  const mediaType = PICTURES[path.posix.extname(name).slice(1).toLowerCase()] ?? "";
  return { mediaType, data: Buffer.from(await workspace.fs.readFile(uri)).toString("base64"), name };
}
