import { expect, test } from "vitest";
import { exportName } from "../src/session-names";

const SESSION = {
  sessionId: "0f3a",
  createdAt: 0,
  updatedAt: 0,
  messages: 1,
  firstMessage: "",
  locked: false,
  uri: "",
};

test.each([
  ["Sums: 6/7", "Sums 6 7.md"],
  ["Größe von 北京_v1.2-a", "Größe von 北京_v1.2-a.md"],
  ["../../etc/passwd", "etc passwd.md"],
  ["..\\\\host\\c$", "host c.md"],
  ["two\nlines\u0000\u202e", "two lines.md"],
  ["what?!", "what.md"],
  ["...", "0f3a.md"],
  ["???", "0f3a.md"],
  ["", "0f3a.md"],
  ["x".repeat(300), `${"x".repeat(100)}.md`],
])("%j is exported as %s", (title, name) => {
  expect(exportName({ ...SESSION, title }, "md")).toBe(name);
});
