// @vitest-environment jsdom
// Where the user writes: the message, what waits, mentions and commands.

import { beforeEach, describe, expect, it } from "vitest";
import { find, named, Page, press, turnWith, write } from "./chat-page";

let page: Page;

beforeEach(() => {
  page = new Page();
});

const message = () => find<HTMLTextAreaElement>(".box textarea");

describe("the message", () => {
  it("is sent by Enter, with its mode, and not while it is composed", () => {
    write(message(), "Warum?");
    press(message(), "Enter", { isComposing: true });
    press(message(), "Enter", { shiftKey: true });
    expect(page.of("send")).toEqual([]);
    press(message(), "Enter");
    expect(page.of("send")).toEqual([{ type: "send", mode: "ask_mode", text: "Warum?", attachments: [], images: [] }]);
    expect(message().value).toBe("");
    press(message(), "Enter");
    expect(page.of("send")).toHaveLength(1);
  });

  it("takes along what is looked at, unless that is taken away", () => {
    const attached = { kind: "file", uri: "file:///a.py", label: "a.py" } as const;
    page.take({ type: "looked", looked: attached });
    write(message(), "One");
    press(message(), "Enter");
    expect(page.of("send")[0]?.attachments).toEqual([attached]);
    named("Do not send a.py").click();
    write(message(), "Two");
    page.take({ type: "looked", looked: attached });
    press(message(), "Enter");
    expect(page.of("send")[1]?.attachments).toEqual([]);
  });

  it("comes back by the Up key, and leaves what is written alone", () => {
    page.show([turnWith([], { id: "1", said: "First" }), turnWith([], { id: "2", said: "Second" })]);
    press(message(), "ArrowUp");
    press(message(), "ArrowUp");
    expect(message().value).toBe("First");
    press(message(), "ArrowDown");
    expect(message().value).toBe("Second");
    write(message(), "Something else");
    press(message(), "ArrowUp");
    expect(message().value).toBe("Something else");
  });

  it("is still there when the page comes back", () => {
    write(message(), "half a thou");
    find<HTMLSelectElement>("select").value = "edit_mode";
    find("select").dispatchEvent(new Event("change"));
    page = new Page(page.saved);
    expect(message().value).toBe("half a thou");
    expect(find<HTMLSelectElement>("select").value).toBe("edit_mode");
  });

  it("waits while a turn runs, can be edited, removed and sent", () => {
    const queue = [
      { turnId: "q1", body: "next", mode: "ask_mode", lost: false },
      { turnId: "q2", body: "left over", mode: "ask_mode", lost: true },
    ] as const;
    page.show([turnWith([], { status: "running" })], { running: "t", queue: [...queue] });
    named("Cancel turn").click();
    expect(page.of("stop")).toEqual([{ type: "stop", queue: "keep" }]);
    find(".queue li:nth-child(1) [aria-label='Edit queued message']").click();
    const field = find<HTMLTextAreaElement>(".queue textarea");
    write(field, "next!");
    press(field, "Enter");
    find(".queue li:nth-child(2) [aria-label='Remove queued message']").click();
    named("Send").click();
    expect(page.of("queueEdit")).toEqual([{ type: "queueEdit", turnId: "q1", text: "next!" }]);
    expect(page.of("queueRemove")).toEqual([{ type: "queueRemove", turnId: "q2" }]);
    expect(page.of("queueSend")).toEqual([{ type: "queueSend", turnId: "q2" }]);
  });
});

describe("messages that wait", () => {
  const waiting = { turnId: "q1", body: "next", mode: "ask_mode", lost: false } as const;

  it("are sent or given back with the end of the turn", () => {
    page.show([turnWith([], { status: "running" })], { running: "t", queue: [waiting] });
    expect(find(".queue-head").textContent).toBe("1 message queued");
    named("Cancel the turn and send the next message").click();
    named("Cancel the turn and edit the queued messages").click();
    expect(page.of("stop").map((it) => it.queue)).toEqual(["next", "return"]);
  });

  it("say so after the turn was stopped, and can be sent then", () => {
    page.show([turnWith([])], { queue: [waiting] });
    expect(find(".queue-head").textContent).toBe("1 message waiting");
    named("Send the queued messages").click();
    expect(page.of("queueResume")).toHaveLength(1);
    named("Edit the queued messages").click();
    expect(page.of("stop")).toEqual([{ type: "stop", queue: "return" }]);
    page.show([turnWith([])], { queue: [{ ...waiting, lost: true }] });
    expect(find(".queue-head").hidden).toBe(true);
  });

  it("come back before what is written, with what they mention", () => {
    const attachment = { kind: "file", uri: "file:///a.ts", label: "a.ts" } as const;
    write(message(), "see @a");
    const completions = [{ word: "a.ts", detail: "", icon: "file", attachment } as const];
    page.take({ type: "completions", request: page.of("complete")[0]?.request ?? 0, completions });
    press(message(), "Enter");
    press(message(), "Enter");
    write(message(), "half a thou");
    page.take({ type: "returned", text: "see @a.ts" });
    page.take({ type: "pictures", pictures: [{ mediaType: "image/png", name: "shot.png", data: "AA==" }] });
    const other = { kind: "file", uri: "file:///b.ts", label: "b.ts" } as const;
    page.take({ type: "attached", attachments: [attachment, other] });
    expect(message().value).toBe("see @a.ts\n\nhalf a thou");
    expect(named("Do not send shot.png")).toBeDefined();
    press(message(), "Enter");
    expect(page.of("send")[1]?.attachments).toEqual([attachment, other]);
    expect(page.of("send")[1]?.images).toEqual([{ mediaType: "image/png", name: "shot.png", data: "AA==" }]);
  });
});

describe("a mention", () => {
  const attachment = { kind: "file", uri: "file:///src/a.ts", label: "src/a.ts" } as const;
  const completions = [
    { word: "src/a.ts", detail: "", icon: "file", attachment } as const,
    { word: "src/b.ts", detail: "", icon: "file", attachment: { ...attachment, uri: "file:///src/b.ts" } } as const,
  ];

  it("is completed by the keyboard, and goes along", () => {
    write(message(), "look at @sr");
    const [asked] = page.of("complete");
    expect(asked?.word).toBe("sr");
    page.take({ type: "completions", request: asked?.request ?? 0, completions });
    expect(message().getAttribute("aria-activedescendant")).toBe("completion-0");
    press(message(), "ArrowDown");
    press(message(), "ArrowUp");
    press(message(), "Enter");
    expect(message().value).toBe("look at @src/a.ts ");
    press(message(), "Enter");
    expect(page.of("send")[0]).toMatchObject({ text: "look at @src/a.ts", attachments: [attachment] });
  });

  it("is not completed by an answer that comes too late", () => {
    write(message(), "@s");
    write(message(), "@sr");
    page.take({ type: "completions", request: page.of("complete")[0]?.request ?? 0, completions });
    expect(find("#completions").hidden).toBe(true);
  });

  it("does not begin in an address", () => {
    write(message(), "mail me@example.org");
    expect(page.of("complete")).toEqual([]);
  });
});

describe("a command", () => {
  it("is completed at the beginning of a message, and nowhere else", () => {
    write(message(), "/co");
    const [asked] = page.of("complete");
    expect(asked).toMatchObject({ sign: "/", word: "co" });
    const completions = [{ word: "compact", detail: "make it shorter", icon: "command" } as const];
    page.take({ type: "completions", request: asked?.request ?? 0, completions });
    press(message(), "Tab");
    expect(message().value).toBe("/compact ");
    write(message(), "what is /co");
    expect(page.of("complete")).toHaveLength(1);
  });
});
