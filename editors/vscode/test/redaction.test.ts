import { expect, test } from "vitest";
import type { LogOutputChannel } from "vscode";
import { RedactedLog, redact } from "../src/server/redaction";

const KEY = 'sk-"quoted"\\key';

/** Everything that is written into it, by whatever function. */
function recorded(): { channel: LogOutputChannel; lines: string[] } {
  const lines: string[] = [];
  const channel = new Proxy({} as LogOutputChannel, {
    get:
      () =>
      (...given: unknown[]) =>
        void lines.push(given.join(" ")),
  });
  return { channel, lines };
}

test("a key is hidden as it is, and as it stands in JSON", () => {
  expect(redact(`${KEY} ${JSON.stringify({ secrets: { anthropic: KEY } })}`, [KEY])).toBe(
    '[hidden] {"secrets":{"anthropic":"[hidden]"}}',
  );
});

test("no function of the log lets a key through", () => {
  const { channel, lines } = recorded();
  const log = new RedactedLog(channel, () => [KEY]);
  log.trace("Sending request 'initialize'", `Params: ${JSON.stringify({ secrets: { openai: KEY } }, null, 4)}`);
  log.trace(JSON.stringify({ type: "send-request", message: { params: { secrets: { openai: KEY } } } }));
  log.debug(KEY);
  log.info(KEY, { key: KEY });
  log.warn(KEY, KEY);
  log.error(KEY, undefined, new Error(KEY));
  log.error(new Error(`wrong key ${KEY}`));
  log.append(KEY);
  log.appendLine(KEY);
  log.replace(KEY);
  expect(lines).toHaveLength(10);
  expect(lines.join("\n")).not.toContain(KEY);
  expect(lines.join("\n")).not.toContain(JSON.stringify(KEY).slice(1, -1));
});

test("keys that become known later are hidden from then on", () => {
  const { channel, lines } = recorded();
  const known: string[] = [];
  const log = new RedactedLog(channel, () => known);
  known.push("sk-new");
  log.info("using sk-new");
  expect(lines).toEqual(["using [hidden]"]);
});
