// A log in which the keys that Odin was given cannot appear, whoever writes into it.

import type { LogLevel, LogOutputChannel } from "vscode";

const HIDDEN = "[hidden]";

/** `text` without the secrets, as they are and as they stand in JSON. */
export function redact(text: string, secrets: Iterable<string>): string {
  let clean = text;
  for (const secret of secrets) {
    for (const form of [secret, JSON.stringify(secret).slice(1, -1)]) {
      clean = form ? clean.replaceAll(form, HIDDEN) : clean;
    }
  }
  return clean;
}

export class RedactedLog implements LogOutputChannel {
  constructor(
    private readonly log: LogOutputChannel,
    private readonly secrets: () => Iterable<string>,
  ) {}

  get name(): string {
    return this.log.name;
  }

  get logLevel(): LogLevel {
    return this.log.logLevel;
  }

  get onDidChangeLogLevel(): LogOutputChannel["onDidChangeLogLevel"] {
    return this.log.onDidChangeLogLevel;
  }

  trace(message: string, ...rest: unknown[]): void {
    this.log.trace(this.clean(message), ...rest.map((it) => this.cleanValue(it)));
  }

  debug(message: string, ...rest: unknown[]): void {
    this.log.debug(this.clean(message), ...rest.map((it) => this.cleanValue(it)));
  }

  info(message: string, ...rest: unknown[]): void {
    this.log.info(this.clean(message), ...rest.map((it) => this.cleanValue(it)));
  }

  warn(message: string, ...rest: unknown[]): void {
    this.log.warn(this.clean(message), ...rest.map((it) => this.cleanValue(it)));
  }

  error(message: string | Error, ...rest: unknown[]): void {
    this.log.error(
      this.clean(message instanceof Error ? (message.stack ?? message.message) : message),
      ...rest.map((it) => this.cleanValue(it)),
    );
  }

  append(value: string): void {
    this.log.append(this.clean(value));
  }

  appendLine(value: string): void {
    this.log.appendLine(this.clean(value));
  }

  replace(value: string): void {
    this.log.replace(this.clean(value));
  }

  clear(): void {
    this.log.clear();
  }

  show(columnOrFocus?: unknown, preserveFocus?: boolean): void {
    this.log.show(typeof columnOrFocus === "boolean" ? columnOrFocus : preserveFocus);
  }

  hide(): void {
    this.log.hide();
  }

  dispose(): void {
    this.log.dispose();
  }

  clean(text: string): string {
    return redact(text, this.secrets());
  }

  private cleanValue(value: unknown): unknown {
    return this.clean(typeof value === "string" ? value : (JSON.stringify(value) ?? String(value)));
  }
}
