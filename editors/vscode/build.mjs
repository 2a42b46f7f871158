// Bundle the extension and its webview: `node build.mjs`, `--production` for what is packaged, `--watch` while working.
import { cp, mkdir } from "node:fs/promises";
import { build, context } from "esbuild";

const production = process.argv.includes("--production");
const common = {
  bundle: true,
  minify: production,
  sourcemap: production ? false : "linked",
  logLevel: "info",
  outdir: "dist",
};
const bundles = [
  {
    ...common,
    entryPoints: { extension: "src/extension.ts" },
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

await mkdir("dist", { recursive: true });
await cp("../../docs/config.schema.json", "dist/config.schema.json");
if (process.argv.includes("--watch")) {
  for (const bundle of bundles) {
    await (await context(bundle)).watch();
  }
} else {
  await Promise.all(bundles.map((bundle) => build(bundle)));
}
