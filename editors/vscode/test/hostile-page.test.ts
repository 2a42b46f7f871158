// @vitest-environment jsdom
// Everything that a server may send, with hostile text in every field of it, in the chat's page: it is shown, it is
// harmless, nothing throws, and each question is asked.

import { beforeEach, expect, it } from "vitest";
import type { EventRecord } from "../src/protocol";
import type { Item } from "../src/session/state";
import { Transcript } from "../src/session/transcript";
import { find, Page, text, turnWith, write } from "./chat-page";
import { expectHarmless, hostileValues } from "./hostile";

const SHOWN = ["alt", "aria-label", "placeholder", "title"];
const { events, questions, texts } = hostileValues();
const [, bidi = "", markup = ""] = texts;
let page: Page;

beforeEach(() => {
  page = new Page();
});

function look(): string {
  for (const fold of document.querySelectorAll("details")) {
    fold.open = true;
    fold.dispatchEvent(new Event("toggle"));
  }
  const shown: string[] = [document.body.textContent ?? ""];
  for (const element of document.body.querySelectorAll("*")) {
    shown.push(...SHOWN.map((name) => element.getAttribute(name) ?? ""));
    expect(element.getAttribute("href") ?? "").toBe("");
    expect(["SCRIPT", "IFRAME", "STYLE", "OBJECT"]).not.toContain(element.tagName);
  }
  for (const it of shown) expectHarmless(it);
  return shown.join("\n");
}

function told(record: EventRecord): Transcript {
  const transcript = new Transcript();
  const started: EventRecord["event"] = { kind: "turnStarted", mode: "ask_mode", model: "m", text: "Why?" };
  if (record.event.kind !== "turnStarted") transcript.take({ ...record, agentId: "main", event: started });
  transcript.take(record);
  return transcript;
}

it("shows every event, and none does harm", { timeout: 60_000 }, () => {
  for (const record of events) {
    const { head, turns } = told(record).state;
    page.show([...turns], head);
    look();
  }
});

it("asks every question", { timeout: 60_000 }, () => {
  for (const [index, question] of questions.entries()) {
    const item: Item = { kind: "question", id: `question/${index}`, question, answer: null };
    page.show([turnWith([item], { id: `t${index}`, status: "running" })], { running: `t${index}` });
    const seen = look();
    expect(document.querySelectorAll(".question.is-open")).toHaveLength(1);
    expect(seen.replace(/\s+/g, " ")).toContain(question.title.match(/[a-z]{3,}/)?.[0] ?? "");
    for (const { label } of question.options ?? []) expect(seen).toContain(label.match(/[a-z]{3,}/)?.[0] ?? "");
  }
});

it("shows what a model says as it looks, and copies it as it is", () => {
  page.show([turnWith([text(`${markup} &#x202e;&#27;\n\n\`\`\`sh\nls \u202e${bidi.slice(0, 8)}\n\`\`\`\n`)])]);
  const seen = look();
  expect(seen).toContain("⟨U+202E⟩");
  find("[aria-label='Copy code']").click();
  expect(page.of("copy")).toEqual([{ type: "copy", text: `ls \u202e${bidi.slice(0, 8)}` }]);
});

it("shows lists of others as they look", () => {
  for (const words of texts) {
    page.show([], {}, { model: words, trouble: { why: words, actions: [{ title: words, command: "x" }] } });
    page.take({ type: "recent", sessions: [{ id: "s", title: words, when: words }] });
    look();
    page.show([turnWith([], { said: words, detail: words, reason: "failed" })]);
    page.take({ type: "looked", looked: { kind: "file", uri: words, label: words } });
    write(find<HTMLTextAreaElement>(".box textarea"), "@a");
    const attachment = { kind: "file", uri: words, label: words } as const;
    const completions = [{ word: words, detail: words, icon: "file", attachment } as const];
    page.take({ type: "completions", request: page.of("complete").at(-1)?.request ?? 0, completions });
    look();
  }
});
