// Images: those that go with the next message, and those that came with earlier ones.

import { inBackground } from "../src/background";
import type { FromPage, Picture } from "../src/chat/messages";
import { t } from "../src/l10n";
import type { Attached, ImageItem } from "../src/protocol";
import { h, icon, iconButton } from "./dom";

const TAKEN = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const MOST = 20;

/** What is pasted, dropped or chosen: a thumbnail each, until the message is sent or it is taken away. */
export class Pictures {
  readonly element = h("div", { class: "pictures" });
  #items: Picture[] = [];

  constructor(text: HTMLTextAreaElement, form: HTMLElement) {
    text.addEventListener("paste", (event) => this.#take(event, event.clipboardData));
    form.addEventListener("dragover", (event) => {
      if (event.dataTransfer?.types.includes("Files")) event.preventDefault();
    });
    form.addEventListener("drop", (event) => this.#take(event, event.dataTransfer));
  }

  add(pictures: readonly Picture[]): void {
    this.#items = [...this.#items, ...pictures].slice(0, MOST);
    this.#show();
  }

  /** What goes with the message that is sent now. */
  takeAll(): ImageItem[] {
    const items = this.#items;
    this.#items = [];
    this.#show();
    return items;
  }

  #take(event: Event, from: DataTransfer | null): void {
    const files = [...(from?.files ?? [])].filter((it) => TAKEN.includes(it.type));
    if (files.length === 0) return;
    event.preventDefault();
    inBackground(this.#read(files));
  }

  async #read(files: readonly File[]): Promise<void> {
    for (const file of files) this.add([{ mediaType: file.type, data: await base64Of(file), name: file.name }]);
  }

  #show(): void {
    const chips = this.#items.map((item) => {
      const remove = () => {
        this.#items = this.#items.filter((it) => it !== item);
        this.#show();
      };
      const title = item.name;
      const image = h("img", { src: `data:${item.mediaType};base64,${item.data}`, alt: title, title });
      return h("span", { class: "picture-chip" }, image, iconButton("close", t("Do not send {0}", title), remove));
    });
    this.element.replaceChildren(...chips);
  }
}

/** What came with messages. The server has the bytes; each is asked for once. */
export class Gallery {
  #urls = new Map<string, string>();
  #waiting = new Map<string, HTMLImageElement[]>();

  constructor(private readonly post: (message: FromPage) => void) {}

  of({ digest, mediaType, name = "" }: Attached): HTMLElement {
    const title = name || mediaType;
    if (!TAKEN.includes(mediaType)) return h("span", { class: "chip" }, icon("file-pdf"), h("span", { text: title }));
    const image = h("img", { class: "picture", alt: title, title, src: this.#urls.get(digest) });
    if (!this.#urls.has(digest)) {
      const waiting = this.#waiting.get(digest);
      this.#waiting.set(digest, [...(waiting ?? []), image]);
      if (!waiting) this.post({ type: "picture", digest, mediaType });
    }
    return image;
  }

  take(digest: string, url: string): void {
    this.#urls.set(digest, url);
    for (const image of this.#waiting.get(digest) ?? []) image.src = url;
    this.#waiting.delete(digest);
  }
}

function base64Of(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => resolve(String(reader.result).replace(/^[^,]*,/, "")));
    reader.addEventListener("error", () => reject(reader.error ?? new Error(t("Could not read the file."))));
    reader.readAsDataURL(file);
  });
}
