// Bundle the extension and its webview: `node build.mjs`, `--production` for what is packaged, `--watch` while working.
import { cp, mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build, context } from "esbuild";

const here = fileURLToPath(new URL(".", import.meta.url));

/** What starts the server is a file of its own, so that VS Code does not read it before it is needed. */
const LAZY = { launch: "src/server/launch.ts" };
const lazily = {
  name: "lazily",
  setup: ({ onResolve }) => onResolve({ filter: /^\.\/launch$/ }, () => ({ path: "./launch.js", external: true })),
};

/**
 * @param {{ production: boolean, outdir?: string, logLevel?: import("esbuild").LogLevel }} wanted
 * @returns {import("esbuild").BuildOptions[]}
 */
export function bundles({ production, outdir = "dist", logLevel = "info" }) {
  const common = {
    absWorkingDir: here,
    bundle: true,
    minify: production,
    sourcemap: production ? false : "linked",
    logLevel,
    outdir,
  };
  return [
    {
      ...common,
      entryPoints: { extension: "src/extension.ts", ...LAZY },
      plugins: [lazily],
      supported: { "dynamic-import": false },
      platform: "node",
      target: "node20",
      format: "cjs",
      external: ["vscode"],
    },
    {
      ...common,
      entryPoints: { webview: "webview/main.ts", "webview-style": "webview/style.css" },
      platform: "browser",
      target: "es2022",
      format: "iife",
      loader: { ".ttf": "file" },
    },
  ];
}

async function main() {
  const wanted = bundles({ production: process.argv.includes("--production") });
  await mkdir(`${here}dist`, { recursive: true });
  await cp(`${here}../../docs/config.schema.json`, `${here}dist/config.schema.json`);
  if (process.argv.includes("--watch")) {
    for (const bundle of wanted) {
      await (await context(bundle)).watch();
    }
  } else {
    await Promise.all(wanted.map((bundle) => build(bundle)));
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main();
}
