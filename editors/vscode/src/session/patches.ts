// From one state of the chat to the next with little said. Streamed text is joined: what was not sent yet goes in one piece.

import type { ChatState, Head, Item, PageState, Turn, TurnHead, WindowState } from "./state";

export type Patch =
  | { kind: "window"; window: WindowState }
  | { kind: "all"; state: ChatState }
  | { kind: "head"; head: Head }
  | { kind: "turn"; head: TurnHead }
  | { kind: "item"; turnId: string; item: Item }
  | { kind: "grow"; turnId: string; itemId: string; text: string }
  | { kind: "drop"; turnId: string; itemIds: string[] };

/** Change `state` as the patch says. */
export function applyPatch(state: PageState, patch: Patch): void {
  switch (patch.kind) {
    case "window":
      state.window = patch.window;
      break;
    case "all":
      state.head = patch.state.head;
      state.turns = patch.state.turns;
      break;
    case "head":
      state.head = patch.head;
      break;
    case "turn": {
      const turn = state.turns.find((it) => it.head.id === patch.head.id);
      if (turn) turn.head = patch.head;
      else state.turns.push({ head: patch.head, items: [] });
      break;
    }
    case "item": {
      const items = itemsOf(state, patch.turnId);
      const index = items.findIndex((it) => it.id === patch.item.id);
      if (index < 0) items.push(patch.item);
      else items[index] = patch.item;
      break;
    }
    case "grow": {
      const item = itemsOf(state, patch.turnId).find((it) => it.id === patch.itemId);
      if (item && "text" in item) item.text += patch.text;
      break;
    }
    case "drop": {
      const turn = state.turns.find((it) => it.head.id === patch.turnId);
      if (turn) turn.items = turn.items.filter((it) => !patch.itemIds.includes(it.id));
    }
  }
}

function itemsOf(state: ChatState, turnId: string): Item[] {
  return state.turns.find((it) => it.head.id === turnId)?.items ?? [];
}

interface Change {
  isHeadNew: boolean;
  /** By item: how much of its text is known already, or that all of it is to be sent. */
  items: Map<string, number | "all">;
  dropped: string[];
}

/** What has changed since it was last asked for. */
export class Changes {
  #isAllNew = false;
  #isHeadNew = false;
  #turns = new Map<string, Change>();

  all(): void {
    this.#isAllNew = true;
  }

  head(): void {
    this.#isHeadNew = true;
  }

  turn(turn: Turn): void {
    this.#of(turn).isHeadNew = true;
  }

  item(turn: Turn, item: Item): void {
    this.#of(turn).items.set(item.id, "all");
  }

  /** To be called before its text grows. */
  grows(turn: Turn, item: Item & { text: string }): void {
    const { items } = this.#of(turn);
    if (!items.has(item.id)) items.set(item.id, item.text.length);
  }

  dropped(turn: Turn, item: Item): void {
    const change = this.#of(turn);
    change.items.delete(item.id);
    change.dropped.push(item.id);
  }

  get isEmpty(): boolean {
    return !this.#isAllNew && !this.#isHeadNew && this.#turns.size === 0;
  }

  /** As patches, and begin anew. */
  take(state: ChatState): Patch[] {
    const patches: Patch[] = [];
    if (this.#isAllNew) {
      patches.push({ kind: "all", state });
    } else {
      if (this.#isHeadNew) patches.push({ kind: "head", head: state.head });
      for (const turn of state.turns) {
        const change = this.#turns.get(turn.head.id);
        if (change) patches.push(...patchesOf(turn, change));
      }
    }
    this.#isAllNew = this.#isHeadNew = false;
    this.#turns.clear();
    return structuredClone(patches);
  }

  #of(turn: Turn): Change {
    const known = this.#turns.get(turn.head.id) ?? { isHeadNew: false, items: new Map(), dropped: [] };
    this.#turns.set(turn.head.id, known);
    return known;
  }
}

function patchesOf(turn: Turn, change: Change): Patch[] {
  const turnId = turn.head.id;
  const patches: Patch[] = change.isHeadNew ? [{ kind: "turn", head: turn.head }] : [];
  if (change.dropped.length > 0) patches.push({ kind: "drop", turnId, itemIds: change.dropped });
  for (const item of turn.items) {
    const known = change.items.get(item.id);
    if (known === "all") patches.push({ kind: "item", turnId, item });
    else if (known !== undefined && "text" in item) {
      patches.push({ kind: "grow", turnId, itemId: item.id, text: item.text.slice(known) });
    }
  }
  return patches;
}
