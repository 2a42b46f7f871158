// A document on one side of a diff: brought to the text that it should have, while others type into it.

import type { TextDocument, TextDocumentContentChangeEvent } from "vscode";
import { inBackground } from "../background";
import { Follower } from "./follower";
import { type Change, changed, difference, Lines, unified } from "./texts";

/** What a review does to documents. */
export interface Pen {
  /** Whether it was done. `text` is what the change is of. */
  edit(document: TextDocument, text: string, change: Change): Promise<boolean>;
  /** Have a document without changes of its own read again. */
  reload(document: TextDocument): void;
}

/** An edit on its way. The editor may tell of it before it says that it is done, or after. */
interface Sending {
  text: string;
  isDone: boolean;
  isSeen: boolean;
  arrived: Promise<void>;
  arrive(): void;
}

export class Side {
  readonly #follower: Follower;
  #sending: Sending | undefined;

  constructor(
    readonly document: TextDocument,
    private readonly pen: Pen,
    /** To be called when more can be sent; `false` if the document took nothing. */
    private readonly goOn: (isDone: boolean) => void,
  ) {
    this.#follower = new Follower(unified(document.getText()));
  }

  /** The text, as far as the editor has told. */
  get known(): string {
    return this.#follower.known;
  }

  get isSending(): boolean {
    return this.#sending !== undefined;
  }

  /** When what is on its way has come. */
  get arrived(): Promise<void> {
    return this.#sending?.arrived ?? Promise.resolve();
  }

  /** What somebody typed, as changes of the text that the document should have. */
  typed(events: readonly TextDocumentContentChangeEvent[], wanted: string): Change[] {
    let text = this.known;
    const changes = events.map(({ range, text: put }) => {
      const lines = new Lines(text);
      const change = { start: lines.offsetAt(range.start), end: lines.offsetAt(range.end), text: unified(put) };
      text = changed(text, change);
      return change;
    });
    const typed = this.#follower.typed(unified(this.document.getText()), changes, wanted);
    if (this.#sending && events.length > 0) {
      this.#sending.isSeen = true;
      if (this.#sending.isDone || this.known === this.#sending.text) {
        this.end();
      }
    }
    return typed;
  }

  /** Bring the document to a text by an edit, one at a time. */
  edit(wanted: string): void {
    const change = difference(this.known, wanted);
    if (!change || this.#sending) {
      return;
    }
    const { promise, resolve } = deferred();
    const sending = { text: wanted, isDone: false, isSeen: false, arrived: promise, arrive: resolve };
    this.#sending = sending;
    this.#follower.sent(wanted);
    const made = this.pen.edit(this.document, this.known, change).then((isDone) => {
      sending.isDone = true;
      if (this.#sending === sending && (!isDone || sending.isSeen)) {
        this.end();
        this.goOn(isDone);
      }
    });
    inBackground(made);
  }

  /** Bring the document to a text, by reading it again if nothing in it is unsaved. */
  refresh(wanted: string): void {
    if (this.document.isDirty) {
      this.edit(wanted);
    } else if (this.known !== wanted && !this.#sending) {
      this.#follower.sent(wanted);
      this.pen.reload(this.document);
    }
  }

  /** Nothing more is expected of what was sent. */
  end(): void {
    this.#sending?.arrive();
    this.#sending = undefined;
  }
}

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
