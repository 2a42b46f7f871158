// The package that users install, with the server as a wheel: `npm run package`, `-- --without-wheel` for tests.
import { spawnSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { packagedReadme, README } from "./readme.mjs";

function run(command, ...parameters) {
  const { status, error } = spawnSync(command, parameters, { stdio: "inherit", shell: process.platform === "win32" });
  if (status !== 0) {
    console.error(error?.message ?? `${command} ${parameters.join(" ")} has ended with code ${status}`);
    process.exit(1);
  }
}

rmSync("dist/wheel", { recursive: true, force: true });
run("node", "build.mjs", "--production");
const isWhole = !process.argv.includes("--without-wheel");
if (isWhole) {
  const python = process.env.PYTHON ?? "python3";
  run(python, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", "dist/wheel", "../..");
}
writeFileSync(README, packagedReadme());
const sources = ["--no-dependencies", "--allow-missing-repository", "--readme-path", README];
run("npx", "vsce", "package", ...sources, "--out", isWhole ? "dist/odin.vsix" : "dist/odin-without-wheel.vsix");
