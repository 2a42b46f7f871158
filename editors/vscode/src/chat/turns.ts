// Turns as the user begins, steers, queues, ends and undoes them, in the session that is shown.

import { randomUUID } from "node:crypto";
import { Emitter } from "../emitter";
import { type AfterCancel, type Mode, type Odin, TURN_COMMANDS, type Turns } from "../odin";
import type { Attached, ContextItem, ImageItem, Outcome, QueuedMessage } from "../protocol";
import { runningIn } from "../session/selectors";
import type { TurnHead } from "../session/state";
import type { Store } from "../session/store";
import type { Transcript } from "../session/transcript";
import { wordsOf } from "../words";
import type { Asking } from "./asking";
import type { Kept } from "./kept";
import type { Picture, Returned } from "./messages";
import type { MessageQueue } from "./queue";
import type { ChatSessions } from "./sessions";
import { Undoing } from "./undoing";

export class ChatTurns implements Turns {
  readonly #undoing: Undoing;
  /** What went with messages, for asking again. */
  readonly #images = new Map<string, readonly ImageItem[]>();
  readonly #returned = new Emitter<Returned>();
  readonly onDidReturn = this.#returned.event;

  constructor(
    private readonly odin: Odin,
    private readonly store: Store,
    private readonly kept: Kept,
    private readonly queue: MessageQueue,
    private readonly asking: Asking,
    private readonly sessions: ChatSessions,
  ) {
    this.#undoing = new Undoing(odin);
  }

  get running(): { turnId: string; mode: Mode } | undefined {
    return runningIn(this.store.shown);
  }

  async say(
    mode: Mode,
    text: string,
    context: readonly ContextItem[] = [],
    images: readonly ImageItem[] = [],
    turnId: string = randomUUID(),
    typed = true,
  ): Promise<Outcome | undefined> {
    await this.sessions.settled();
    const session = this.store.shown;
    const { sessionId, running } = session.state.head;
    if (running !== undefined) session.enqueue({ turnId, body: text, mode, lost: false });
    else session.begin(turnId, text, mode);
    this.kept.begin(turnId, context);
    if (images.length > 0) this.#images.set(turnId, images);
    this.store.changed();
    const along = {
      ...(context.length > 0 && { context: [...context] }),
      ...(images.length > 0 && { images: [...images] }),
      ...(!typed && { typed }),
    };
    const argument = { text, turnId, sessionId, ...along };
    return this.#seeThrough(session, turnId, () => this.odin.execute(TURN_COMMANDS[mode], argument));
  }

  /** An image that came with a message, as base64; nothing, if the server does not have it. */
  async attachment(digest: string): Promise<string | undefined> {
    const { sessionId } = this.store.shown.state.head;
    const answer = this.odin.execute("odin.session.attachment", { digest, sessionId });
    return answer.then(({ data }) => data).catch(() => undefined);
  }

  /** Take up a turn that has not come to its end: nothing is said again. */
  async goOn(turnId: string): Promise<Outcome | undefined> {
    const session = this.store.shown;
    const { sessionId, running } = session.state.head;
    if (running !== undefined) return undefined;
    session.goOn(turnId);
    this.store.changed();
    return this.#seeThrough(session, turnId, () => this.odin.execute("odin.continue", { sessionId }));
  }

  /** Go on with the messages that wait, or with the last turn if none does. */
  async goOnWithLast(): Promise<void> {
    const { queue, sessionId } = this.store.shown.state.head;
    const waits = queue.some((it) => !it.lost);
    await this.#attempt(() =>
      waits ? this.queue.resume() : this.odin.execute("odin.continue", sessionId ? { sessionId } : {}),
    );
  }

  async cancel(queue: AfterCancel = "keep"): Promise<void> {
    await this.#attempt(async () => {
      const returned = await this.queue.cancel(this.store.shown, queue);
      for (const { turnId } of returned) this.kept.end(turnId);
      if (returned.length > 0) this.#returned.fire(await this.#toWriteAgain(returned));
    });
  }

  /** Whether it runs or waits. */
  async cancelOne(turnId: string): Promise<void> {
    if (this.store.shown.waiting(turnId)) await this.removeQueued(turnId);
    else await this.#attempt(() => this.odin.execute("odin.cancel", { turnId }));
  }

  async cancelHelper(agentId: string): Promise<void> {
    const { running: turnId } = this.store.shown.state.head;
    await this.#attempt(() => this.odin.execute("odin.cancel", { turnId, agentId }));
  }

  /** The turn goes on with all that was said. */
  async cancelCompaction(): Promise<void> {
    const { running: turnId } = this.store.shown.state.head;
    await this.#attempt(() => this.odin.execute("odin.cancel", { turnId, only: "compaction" }));
  }

  /** Cancel the turn of a review without keeping what waits in it; `false` if the turn is over. */
  async cancelWithReview(proposalId: string): Promise<boolean> {
    const { shown } = this.store;
    const turnId = shown.turnOfReview(proposalId);
    if (!turnId || turnId !== shown.state.head.running) return false;
    await this.#attempt(() => this.odin.execute("odin.cancel", { turnId, drop: true }));
    return true;
  }

  /** Say the same once more, which the server has not taken. */
  async retry(turnId: string): Promise<Outcome | undefined> {
    const { shown } = this.store;
    const turn = shown.turn(turnId);
    if (!turn?.mode) return undefined;
    shown.withdraw(turnId);
    this.kept.end(turnId);
    return this.say(turn.mode, turn.said, this.kept.contextOf(turnId), this.#images.get(turnId));
  }

  /** Have the open steps of a plan carried out, in the session that made it. */
  async runPlan(uri: string): Promise<void> {
    await this.#attempt(() => this.odin.execute("odin.executePlan", { uri, turnId: randomUUID() }));
  }

  async editQueued(turnId: string, text: string): Promise<void> {
    await this.#attempt(() => this.queue.edit(this.store.shown, turnId, text));
  }

  async removeQueued(turnId: string): Promise<void> {
    await this.#attempt(async () => {
      await this.queue.remove(this.store.shown, turnId);
      this.kept.end(turnId);
    });
  }

  /** Say what waits: into the turn that runs, or, if its server went away, once more. */
  async sendQueued(turnId: string): Promise<Outcome | undefined> {
    const { shown } = this.store;
    const waiting = shown.waiting(turnId);
    if (!waiting) return undefined;
    await this.removeQueued(turnId);
    if (shown.state.head.queue.includes(waiting)) return undefined;
    const { context, images } = this.#along(waiting);
    if (!waiting.lost && (await this.#steer(waiting.body, context))) return undefined;
    return this.say(waiting.mode, waiting.body, context, images);
  }

  async undo(turnId: string): Promise<void> {
    await this.#attempt(() => this.#undoing.undo(this.store.shown, turnId));
  }

  async bringBack(turnId: string): Promise<void> {
    await this.#attempt(() => this.#undoing.bringBack(this.store.shown, turnId));
  }

  /** A copy of the session that ends before that turn, whose words come back to be changed, in their mode. What the
   * `undone` turns have changed is taken back as well. */
  async forkAt(turnId: string, undone: readonly TurnHead[] = []): Promise<{ text: string; mode?: Mode } | undefined> {
    const left = this.store.shown;
    const { mode } = left.turn(turnId) ?? {};
    const text = await this.sessions.forkAt(turnId);
    if (text === undefined) return undefined;
    for (const { id } of undone) {
      await this.#attempt(() => this.#undoing.undoBehind(left, id, this.store.shown));
    }
    return { text, ...(mode ? { mode } : {}) };
  }

  /** The turn will not be heard of any more. */
  lose(session: Transcript, turnId: string, why: string): void {
    const waiting = session.waiting(turnId);
    if (waiting) session.enqueue({ ...waiting, lost: true });
    else session.lose(turnId, why);
    this.asking.giveUpUnasked();
    this.store.changed();
  }

  async #toWriteAgain(messages: readonly QueuedMessage[]): Promise<Returned> {
    const along = messages.map((it) => this.#along(it));
    const pictures = await Promise.all(along.flatMap((it) => it.images).map((it) => this.#picture(it)));
    return {
      text: messages.map((it) => it.body).join("\n\n"),
      context: along.flatMap((it) => it.context),
      pictures: pictures.filter((it) => it !== undefined),
    };
  }

  /** What went with a message: as this window has sent it, else as the server has it. */
  #along({ turnId, context = [], attached = [] }: Omit<QueuedMessage, "timestamp" | "body" | "mode">): {
    context: readonly ContextItem[];
    images: readonly ImageItem[];
  } {
    return {
      context: this.kept.contextOf(turnId) ?? context,
      images: this.#images.get(turnId) ?? imagesOf(attached, context),
    };
  }

  async #picture({ mediaType = "", name = "", data, digest }: ImageItem): Promise<Picture | undefined> {
    const known = data ?? (digest ? await this.attachment(digest) : undefined);
    return known === undefined ? undefined : { mediaType, name, data: known };
  }

  /** Whether there is a turn that hears it. */
  async #steer(text: string, context: readonly ContextItem[] = []): Promise<boolean> {
    const said = this.odin.execute("odin.steer", { text, context: [...context] });
    return said.then(({ taken }) => taken).catch(() => false);
  }

  #attempt(work: () => Promise<unknown>): Promise<void> {
    return this.sessions.attempt(work);
  }

  /** See the turn to its end. */
  async #seeThrough(session: Transcript, turnId: string, work: () => Promise<Outcome>): Promise<Outcome | undefined> {
    try {
      const outcome = await work();
      this.kept.end(turnId);
      return outcome;
    } catch (error) {
      if (this.odin.state.kind === "ready") this.kept.end(turnId);
      this.lose(session, turnId, wordsOf(error));
      return undefined;
    }
  }
}

/** Without those that are files of the context: these go along with it. */
function imagesOf(attached: readonly Attached[], context: readonly ContextItem[]): ImageItem[] {
  const files = new Set(context.flatMap((it) => (it.kind === "file" && it.uri ? [fileName(it.uri)] : [])));
  return attached
    .filter((it) => it.mediaType.startsWith("image/") && !files.has(it.name ?? ""))
    .map(({ digest, mediaType, name }) => ({ digest, mediaType, ...(name === undefined ? {} : { name }) }));
}

function fileName(uri: string): string {
  return decodeURIComponent(uri.slice(uri.lastIndexOf("/") + 1));
}
