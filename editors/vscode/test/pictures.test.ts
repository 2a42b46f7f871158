// @vitest-environment jsdom
// Images in the page: pasted, dropped, taken away, sent, and shown with the message.

import { beforeEach, expect, it, vi } from "vitest";
import { find, named, Page, press, turnWith, write } from "./chat-page";

let page: Page;

beforeEach(() => {
  page = new Page();
});

const message = () => find<HTMLTextAreaElement>(".box textarea");
const chips = () => [...document.querySelectorAll<HTMLImageElement>(".picture-chip img")];
const png = (name: string) => new File(["hi"], name, { type: "image/png" });

/** jsdom has no clipboard. */
function carry(target: HTMLElement, kind: "paste" | "drop", ...files: File[]): Event {
  const event = new Event(kind, { bubbles: true, cancelable: true });
  Object.assign(event, { [kind === "paste" ? "clipboardData" : "dataTransfer"]: { files, types: ["Files"] } });
  target.dispatchEvent(event);
  return event;
}

it("sends what is pasted and dropped, without what was taken away", async () => {
  expect(carry(message(), "paste", png("one.png"), png("two.png")).defaultPrevented).toBe(true);
  carry(find("form"), "drop", png("three.png"));
  await vi.waitFor(() => expect(chips()).toHaveLength(3));
  expect(chips()[0]?.src).toBe("data:image/png;base64,aGk=");
  named("Do not send two.png").click();
  write(message(), "What is this?");
  press(message(), "Enter");
  expect(page.of("send")[0]?.images).toEqual([
    { mediaType: "image/png", data: "aGk=", name: "one.png" },
    { mediaType: "image/png", data: "aGk=", name: "three.png" },
  ]);
  expect(chips()).toEqual([]);
});

it("leaves words and other files to the text", () => {
  expect(carry(message(), "paste").defaultPrevented).toBe(false);
  expect(carry(message(), "paste", new File(["a"], "a.txt", { type: "text/plain" })).defaultPrevented).toBe(false);
});

it("shows what came with a message, and asks for it once", () => {
  const attached = [{ digest: "d", mediaType: "image/png", name: "shot.png", width: 1, height: 1 }];
  page.show([turnWith([], { attached })]);
  page.show([turnWith([], { attached })]);
  expect(page.of("picture")).toEqual([{ type: "picture", digest: "d", mediaType: "image/png" }]);
  page.take({ type: "picture", digest: "d", url: "data:image/png;base64,aGk=" });
  expect(find<HTMLImageElement>(".said img").src).toBe("data:image/png;base64,aGk=");
  expect(find<HTMLImageElement>(".said img").alt).toBe("shot.png");
});
