import { expect, test } from "vitest";
import { applyWords, fileIn } from "../src/chat/applying";

test.each([
  ["python src/a.py", "src/a.py"],
  ["python:src/a.py", "src/a.py"],
  ['ts title="webview/app.ts"', "webview/app.ts"],
  ["js file=a.test.js", "a.test.js"],
  ["python", undefined],
  ["", undefined],
  ["py ../a.py", undefined],
  ["text /etc/passwd.txt", undefined],
])("a block that says %j is for %j", (info, file) => {
  expect(fileIn(info)).toBe(file);
});

test("the code is in a fence that it does not end", () => {
  expect(applyWords("x = 1", "python src/a.py", "src/a.py")).toBe(
    "Apply this code to `src/a.py`, and change nothing else:\n\n```python\nx = 1\n```",
  );
  expect(applyWords("````\nx", "md", "a.md")).toContain("\n\n`````md\n````\nx\n`````");
});
