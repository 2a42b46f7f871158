"""Each package installed where nothing is, neither settings nor caches; then it answers a question."""

import os
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from tests.editors.debian import NEOVIM, fetched
from tests.release.building import PATIENCE, ROOT, Kind

QUESTION, ANSWER = "what does add do?", "code.py:1"
KEPT = ("PIP_", "SSL_", "UV_")
"""Of the environment: where packages are had from."""
IN_VSCODE = "installation_is_offered or installed_in_an_environment or answers_by_searching"
MOST_TOLD = 300
ASK = f"""
vim.cmd("OdinAsk {QUESTION}")
local function answered()
  return vim.iter(vim.api.nvim_list_bufs()):any(function(buffer)
    local text = table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), "\\n")
    return text:find("{ANSWER}", 1, true)
  end)
end
vim.cmd(vim.wait(60000, answered) and "qall!" or "cquit!")
"""


class Bare:
    """A home with nothing in it, and a folder with some code."""

    def __init__(self, place: Path) -> None:
        self.home, self.workspace = place / "home", place / "workspace"
        self.home.mkdir(parents=True)
        self.workspace.mkdir()
        (self.workspace / "code.py").write_text("def add(a, b):\n    return a - b\n")
        self.programs = self.home / ".local" / "bin"

    def run(self, *command: str | Path, path: Path | None = None) -> str:
        kept = {name: value for name, value in os.environ.items() if name.startswith(KEPT)}
        env = {**kept, "HOME": str(self.home), "LANG": "C.UTF-8", "PATH": f"{path or self.programs}:/usr/bin:/bin"}
        done = _run(command, self.workspace, env)
        if done.returncode:
            raise Failed(f"{Path(command[0]).name} ended with {done.returncode}: {(done.stderr or done.stdout)[-500:]}")
        return done.stdout

    def ask(self, program: Path) -> None:
        said = self.run(program, "ask", "--no-host", QUESTION)
        if ANSWER not in said:
            raise Failed(f"the answer is not in {said!r}")


class Failed(Exception):
    """How it went."""


def _run(command: Sequence[str | Path], folder: Path, env: Mapping[str, str]) -> "subprocess.CompletedProcess[str]":
    try:
        return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        raise Failed(f"{Path(command[0]).name} did not end within {PATIENCE} seconds") from None


def tried(packages: Mapping[Kind, Path], place: Path, tools: Path) -> dict[Kind, str]:
    """By package: the ways in which it was installed and has answered, or what went wrong."""
    ways: dict[Kind, dict[str, Callable[[Bare], None]]] = {
        "sdist": {"pip": lambda bare: bare.ask(_by_pip(bare, packages["sdist"]))},
        "wheel": {
            "pip": lambda bare: bare.ask(_by_pip(bare, packages["wheel"])),
            "pipx": lambda bare: _by_tool(bare, packages["wheel"], tools / "pipx", "install"),
            "uv": lambda bare: _by_tool(bare, packages["wheel"], tools / "uv", "tool", "install"),
        },
        "vsix": {"VS Code": lambda _: _in_vscode(packages["vsix"])},
        "plugin": {"pack/start": lambda bare: _in_neovim(bare, packages["plugin"], packages["wheel"])},
    }
    return {kind: ", ".join(_each(named, place / f"bare {kind}")) for kind, named in ways.items()}


def _each(ways: Mapping[str, Callable[[Bare], None]], place: Path) -> Iterator[str]:
    for name, way in ways.items():
        try:
            way(Bare(place / name.replace("/", " ")))
        except Failed as error:
            yield f"✗ {name}: {' '.join(str(error).split())[-MOST_TOLD:]}"
        else:
            yield name


def _by_pip(bare: Bare, package: Path) -> Path:
    environment = bare.home / "environment"
    bare.run(f"{sys.base_prefix}/bin/python3", "-m", "venv", environment)
    bare.run(environment / "bin" / "pip", "install", "--quiet", package)
    return environment / "bin" / "odin-lsp"


def _by_tool(bare: Bare, package: Path, *command: str | Path) -> None:
    bare.run(*command, "--python", f"{sys.base_prefix}/bin/python3", package)
    bare.ask(bare.programs / "odin-lsp")


def _in_neovim(bare: Bare, package: Path, wheel: Path) -> None:
    server = _by_pip(bare, wheel)
    start = bare.home / ".local" / "share" / "nvim" / "site" / "pack" / "odin" / "start"
    with tarfile.open(package) as archive:
        archive.extractall(start, filter="data")
    script = bare.home / "ask.lua"
    script.write_text(ASK)
    bare.run(fetched(NEOVIM), "--headless", "code.py", "-c", f"luafile {script}", path=server.parent)


def _in_vscode(package: Path) -> None:
    """Which installs the server that the package carries."""
    for name in ("debian", "code_server"):
        subprocess.run([sys.executable, "-m", f"tests.editors.{name}"], cwd=ROOT, check=True, timeout=PATIENCE)
    tests = ("tests/editors/test_vscode_install.py", "-k", IN_VSCODE, "--quiet")
    env = {**os.environ, "RELEASED_VSIX": str(package)}
    pytest = Path(sys.executable).with_name("pytest")
    done = _run([pytest, *tests], ROOT, env)
    if done.returncode:
        raise Failed(done.stdout[-2000:])
