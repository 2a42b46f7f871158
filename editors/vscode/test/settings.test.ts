import { expect, test } from "vitest";
import schema from "../../../docs/config.schema.json";
import manifest from "../package.json";
import names from "../package.nls.json";
import { RESTARTING_SETTINGS, SERVER_SETTINGS, serverSettings, userFile, userSetting } from "../src/settings";

type Value = {
  globalValue?: unknown;
  workspaceValue?: unknown;
  workspaceFolderValue?: unknown;
  defaultValue?: unknown;
};

function configuration(values: Record<string, Value>): Parameters<typeof serverSettings>[0] {
  return { inspect: <T>(name: string) => ({ key: name, ...values[name] }) as { key: string; globalValue?: T } };
}

test("what the user has set is nested as in odinconfig.json, and defaults are left to the server", () => {
  const settings = serverSettings(
    configuration({
      model: { globalValue: "anthropic/claude" },
      "limits.maxTurns": { globalValue: 20, defaultValue: 100 },
      "limits.maxTokens": { defaultValue: 8192 },
      "review.policy": { globalValue: "end" },
      "network.proxy": { globalValue: null },
      sandbox: { globalValue: false },
    }),
  );
  expect(settings).toEqual({
    model: "anthropic/claude",
    limits: { maxTurns: 20 },
    review: { policy: "end" },
    sandbox: false,
  });
});

test("a workspace's own settings.json sets nothing", () => {
  const hostile = { workspaceValue: ["*"], workspaceFolderValue: ["*"] };
  const values = configuration(Object.fromEntries([...SERVER_SETTINGS, "server.path"].map((it) => [it, hostile])));
  expect(serverSettings(values)).toEqual({});
  expect(userSetting(values, "server.path", "")).toBe("");
});

interface Schema {
  $ref?: string;
  properties?: Record<string, Schema>;
  type?: string;
  anyOf?: { type: string }[];
  enum?: string[];
  examples?: string[];
  default?: unknown;
  description?: string;
  minimum?: number;
}

function inSchema(name: string): Schema {
  const definitions = schema.$defs as Record<string, Schema>;
  return name.split(".").reduce<Schema>((node, part) => {
    const inner = node.properties?.[part] ?? {};
    return inner.$ref ? (definitions[inner.$ref.split("/").at(-1) ?? ""] ?? {}) : inner;
  }, schema as Schema);
}

const contributed: Record<string, Record<string, unknown>> = Object.assign(
  {},
  ...manifest.contributes.configuration.map((group) => group.properties),
);

test.each(SERVER_SETTINGS)("odin.%s says what the server's schema says", (name) => {
  const wanted = inSchema(name);
  const isText = wanted.anyOf?.[0]?.type === "string"; // or null, which VS Code has no field for: empty is the same
  const { type, default: value, enum: choices, examples, minimum } = contributed[`odin.${name}`] ?? {};
  const markdownDescription = new Map(Object.entries(names)).get(`setting.${name}`);
  expect({ type, value, markdownDescription, choices, examples, minimum }).toEqual({
    type: isText ? "string" : wanted.type,
    value: isText ? "" : wanted.default,
    markdownDescription: wanted.description?.replaceAll("\n", " "),
    choices: wanted.enum,
    examples: wanted.examples,
    minimum: wanted.minimum,
  });
});

test("settings are in the order in which people need them: the model first, the network last", () => {
  const groups = manifest.contributes.configuration;
  const orders = groups.map((it) => it.order);
  expect(orders).toEqual(orders.map((_, index) => index + 1));
  for (const { properties } of groups) {
    const within = Object.values(properties).map((it) => it.order);
    expect(within).toEqual(within.map((_, index) => index + 1));
  }
  expect(Object.keys(groups[0]?.properties ?? {})[0]).toBe("odin.model");
  expect(groups.at(-1)?.title).toBe("%settings.network%");
});

test("VS Code itself keeps every setting out of the hands of a workspace", () => {
  for (const [name, { scope }] of Object.entries(contributed)) {
    expect(["application", "machine"], name).toContain(scope);
  }
});

test("every setting that is contributed is used", () => {
  const used = [...SERVER_SETTINGS.map((it) => `odin.${it}`), ...RESTARTING_SETTINGS, "odin.trace.server"];
  expect(Object.keys(contributed).sort()).toEqual([...used].sort());
});

test("the user's file is where the server looks for it", () => {
  expect(userFile("linux", {}, "/home/ada")).toBe("/home/ada/.config/odin/odinconfig.json");
  expect(userFile("linux", { XDG_CONFIG_HOME: "/etc/ada" }, "/home/ada")).toBe("/etc/ada/odin/odinconfig.json");
  expect(userFile("darwin", {}, "/Users/ada")).toBe("/Users/ada/Library/Application Support/odin/odinconfig.json");
});
