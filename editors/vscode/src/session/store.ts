// All that a window knows of Odin, each thing once: the server, the sessions, and what waits for the user. What is shown
// anywhere is made from it by `selectors.ts`.

import type { Event } from "vscode";
import { Emitter } from "../emitter";
import type { ServerState } from "../odin";
import type { EventRecord, Question } from "../protocol";
import { MAIN } from "./ledger";
import { OpenReviews } from "./reviews";
import type { Position } from "./state";
import { Transcript } from "./transcript";

export class Store {
  readonly reviews = new OpenReviews();
  readonly #changed = new Emitter<void>();
  /** Something is not as it was. */
  readonly onDidChange: Event<void> = this.#changed.event;
  #server: ServerState = { kind: "stopped" };
  #isTrusted = true;
  #model = "";
  #role = "";
  #position: Position | undefined;
  #isRestoring = false;
  #shown = new Transcript();
  /** Those that are shown, and those in which something goes on, by their ids. */
  readonly #sessions = new Map<string, Transcript>();
  /** What is told of those that are being read. */
  readonly #held = new Map<Transcript, EventRecord[]>();
  /** By their ids. */
  readonly #questions = new Map<string, Question>();

  get server(): ServerState {
    return this.#server;
  }

  get isTrusted(): boolean {
    return this.#isTrusted;
  }

  /** The one that the next turn is made with. */
  get model(): string {
    return this.#model;
  }

  get role(): string {
    return this.#role;
  }

  /** Where the user is in a review. */
  get position(): Position | undefined {
    return this.#position;
  }

  /** The session of the last window is on its way. */
  get isRestoring(): boolean {
    return this.#isRestoring;
  }

  /** The session that the chat shows. */
  get shown(): Transcript {
    return this.#shown;
  }

  get sessions(): readonly Transcript[] {
    return [...new Set([this.#shown, ...this.#sessions.values()])];
  }

  /** Questions that wait for an answer. */
  get questions(): ReadonlyMap<string, Question> {
    return this.#questions;
  }

  set(changed: { isTrusted?: boolean; model?: string; role?: string; isRestoring?: boolean }): void {
    this.#isTrusted = changed.isTrusted ?? this.#isTrusted;
    this.#model = changed.model ?? this.#model;
    this.#role = changed.role ?? this.#role;
    this.#isRestoring = changed.isRestoring ?? this.#isRestoring;
    this.changed();
  }

  /** Nobody answers to a server that is gone. */
  follow(server: ServerState): void {
    this.#server = server;
    if (server.kind === "ready") this.#model = server.info.model;
    else this.#questions.clear();
    this.changed();
  }

  place(position: Position | undefined): void {
    this.#position = position;
    this.changed();
  }

  ask(question: Question): void {
    this.#questions.set(question.questionId, question);
    this.changed();
  }

  answered(questionId: string): void {
    if (this.#questions.delete(questionId)) this.changed();
  }

  /** Whoever has changed a session tells it here. */
  changed(): void {
    this.#changed.fire();
  }

  /** The result is the session whose event it is, unless that is being read: then it comes again. */
  take(record: EventRecord, told: (session: Transcript) => void): void {
    this.#note(record);
    const session = this.#sessionOf(record);
    if (this.#held.get(session)?.push(record) === undefined) this.#tell(session, record, told);
    this.changed();
  }

  /** Keep back what is told of the session, until the result is called: with the number of the last event that is in it
   * by then. */
  hold(session: Transcript, told: (session: Transcript, record: EventRecord) => void): (seq: number) => void {
    const held: EventRecord[] = [];
    this.#held.set(session, held);
    return (seq) => {
      this.#held.delete(session);
      for (const record of held) {
        if (record.seq > seq) this.#tell(session, record, (it) => told(it, record));
      }
      this.changed();
    };
  }

  /** All of the session that is known, if something goes on in it. */
  going(sessionId: string): Transcript | undefined {
    const known = this.#sessions.get(sessionId);
    return known?.isWhole && known.state.head.running ? known : undefined;
  }

  /** The session has this id from now on. */
  name(session: Transcript, sessionId: string, title?: string): Transcript {
    this.#sessions.set(sessionId, session);
    session.setHead({ sessionId, ...(title === undefined ? {} : { title }) });
    return session;
  }

  /** Have it in the chat. The one before is forgotten, unless something goes on in it. */
  show(session: Transcript): void {
    const { sessionId: before, running } = this.#shown.state.head;
    if (before && !running) this.#sessions.delete(before);
    this.#shown = session;
    const { sessionId } = session.state.head;
    if (sessionId) this.#sessions.set(sessionId, session);
    session.showAll();
    this.changed();
  }

  forget(sessionId: string): void {
    this.#sessions.delete(sessionId);
  }

  forgetAll(): void {
    this.#sessions.clear();
  }

  #note({ event, agentId }: EventRecord): void {
    switch (event.kind) {
      case "turnStarted":
        if (agentId === MAIN && event.model) this.#model = event.model;
        break;
      case "modelChanged":
        this.#model = event.selected;
        break;
      case "roleChanged":
        this.#role = event.role;
        break;
      case "questionAsked":
        if (event.question.kind !== "review") this.#questions.set(event.question.questionId, event.question);
        break;
      case "questionAnswered":
        this.#questions.delete(event.questionId);
        break;
      case "reviewOpened":
        this.reviews.open(event.proposal);
        break;
      case "reviewChanged":
        this.reviews.change(event);
        break;
      case "reviewClosed":
        // One that is stopped gives its reviews up; the next one has them again.
        if (this.#server.kind !== "stopped") this.reviews.close(event.proposalId, event.receipts);
    }
  }

  #sessionOf(record: EventRecord): Transcript {
    const { sessionId, turnId } = record;
    const { sessionId: shown } = this.#shown.state.head;
    if (!sessionId || sessionId === shown) return this.#shown;
    const known = this.#sessions.get(sessionId);
    if (known) return known;
    const isOwn = turnId !== "" && (shown === undefined || this.#shown.isKnown(turnId));
    if (isOwn) return this.name(this.#shown, sessionId);
    // What happens in a session that nobody looks at is read when somebody does; that it goes on is known.
    const session = new Transcript({ isWhole: false });
    return record.event.kind === "turnStarted" ? this.name(session, sessionId) : session;
  }

  #tell(session: Transcript, record: EventRecord, told: (session: Transcript) => void): void {
    session.take(record);
    if (record.event.kind === "turnFinished" && !session.isWhole) this.forget(record.sessionId);
    told(session);
  }
}
