// The README as it is packaged, without its pictures: VS Code would show those of a package only from the web.
import { readFileSync } from "node:fs";

export const README = "dist/README.md";

export function packagedReadme() {
  return readFileSync("README.md", "utf8").replaceAll(/^!\[.*\]\(.*\)\n\n/gm, "");
}
