// The texts that users read, from the calls of `t` and `tn`. `node l10n.mjs` writes the bundle that translators begin with.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseSync } from "rolldown/utils";

export const BUNDLE = "l10n/bundle.l10n.json";
/** Where their texts stand among the arguments. */
const CALLS = { t: [0], tn: [1, 2] };
const FUNCTIONS = new Set([
  "ArrowFunctionExpression",
  "FunctionDeclaration",
  "FunctionExpression",
  "PropertyDefinition",
]);
/** Properties that users read. */
const READ =
  /^(?:alt|aria-label|description|detail|label|openLabel|placeHolder|placeholder|prompt|text|title|tooltip)$/;
/** Arguments that users read. */
const SHOWN = { button: (index) => index === 0, h: (index) => index >= 2, iconButton: (index) => index === 1 };
const COMPARED = /^(?:===|!==|in)$/;
/** Two words in a row, or one with a capital. */
const PROSE = /\p{L}{2}[\p{P}]*\s+[\p{P}]*\p{L}|^\s*\p{Lu}\p{Ll}{2,}[….]?\s*$/u;
const WORD = /\p{L}{2}/u;

/** The texts of one file, and what is wrong with them; a literal that users may read and nobody translates, too. */
export function examine(source, file) {
  const texts = [];
  const faults = [];
  const literals = [];
  visit(parseSync(file, source).program, [], (node, parents) => {
    const named = node.type === "CallExpression" ? (CALLS[node.callee.name] ?? []) : [];
    for (const index of named) {
      const text = node.arguments[index];
      if (text?.type === "Literal" && typeof text.value === "string") texts.push(text.value);
      else faults.push(`${node.callee.name} is called without a literal: ${source.slice(node.start, node.end)}`);
    }
    if (named.length > 0 && !parents.some((it) => FUNCTIONS.has(it.type) && !it.static)) {
      faults.push(`it is translated before the language is known: ${source.slice(node.start, node.end)}`);
    }
    const words = wordsOf(node);
    if (words !== undefined && isShown(words, node, parents)) literals.push(words);
  });
  return { texts, faults, literals };
}

export function sources() {
  const files = ["src", "webview"].flatMap((it) => readdirSync(it, { recursive: true }).map((name) => `${it}/${name}`));
  return files.filter((it) => it.endsWith(".ts") && it !== "src/protocol.ts" && it !== "src/l10n.ts").sort();
}

export function bundle() {
  const texts = sources().flatMap((file) => examine(readFileSync(file, "utf8"), file).texts);
  return Object.fromEntries([...new Set(texts)].sort().map((it) => [it, it]));
}

export function written(texts) {
  return `${JSON.stringify(texts, null, 2)}\n`;
}

/** Types say nothing to anybody. */
function visit(node, parents, look) {
  look(node, parents);
  for (const child of Object.values(node).flat()) {
    if (typeof child?.type === "string" && !/^TS(?!AsExpr|NonNull|Satisfies)/.test(child.type)) {
      visit(child, [...parents, node], look);
    }
  }
}

function wordsOf(node) {
  if (node.type === "Literal" && typeof node.value === "string") return node.value;
  return node.type === "TemplateLiteral" ? node.quasis.map((it) => it.value.cooked).join("…") : undefined;
}

function isShown(words, node, parents) {
  const parent = parents.at(-1);
  const call = parents.findLast((it) => it.type === "CallExpression" || it.type === "NewExpression");
  const property = parents.findLast((it) => it.type === "Property");
  const key = property?.key.name ?? property?.key.value;
  if (/Import|Export/.test(parent.type) || parent.type === "SwitchCase") return false;
  if (parent.type === "BinaryExpression" && COMPARED.test(parent.operator)) return false;
  if (parent.type === "MemberExpression" || (parent.type === "Property" && parent.key === node)) return false;
  if (parent.type === "CallExpression" && (CALLS[parent.callee.name] ?? []).includes(parent.arguments.indexOf(node))) {
    return false;
  }
  if (key === "class" || call?.callee.object?.name === "log" || call?.callee.object?.property?.name === "log")
    return false;
  const isArgument = parent === call && SHOWN[call.callee.name]?.(call.arguments.indexOf(node));
  const isRead = isArgument || (parent === property && READ.test(key));
  return (isRead ? WORD : PROSE).test(words);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  mkdirSync("l10n", { recursive: true });
  writeFileSync(BUNDLE, written(bundle()));
}
