"""What a release is made of, built from a commit in a way that depends on nothing else."""

import ast
import gzip
import io
import os
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

ROOT = Path(__file__).parents[2]
PATIENCE = 900
Kind = Literal["sdist", "wheel", "vsix", "plugin"]
NOT_OF_THE_PLUGIN = ("test/", ".luacheckrc", "doc/generate.lua")


@dataclass(frozen=True)
class Release:
    commit: str
    seconds: str
    """When it was committed: the time of every file."""
    version: str
    problems: tuple[str, ...]


@dataclass(frozen=True)
class Built:
    kind: Kind
    path: Path


def committed() -> Release:
    commit = _git("rev-parse", "HEAD")
    version = _version(_git("show", f"{commit}:odin_lsp/__init__.py"))
    problems: list[str] = []
    if _git("status", "--porcelain"):
        problems.append("✗ there are changes that are not committed: they are not in these packages")
    is_tagged = f"v{version}" in _git("tag", "--points-at", commit).split()
    if is_tagged and f"\n## {version}" not in _git("show", f"{commit}:CHANGELOG.md"):
        problems.append(f"✗ CHANGELOG.md has no section {version}, but the commit is tagged so")
    return Release(commit, _git("show", "--no-patch", "--format=%ct", commit), version, tuple(problems))


def build(release: Release, place: Path, tools: Path) -> list[Built]:
    """All packages of the commit, made in that folder."""
    source, made = place / "source", place / "made"
    made.mkdir(parents=True)
    _unpack(release.commit, source)
    env = {
        **os.environ,
        "SOURCE_DATE_EPOCH": release.seconds,
        "TZ": "UTC",  # the times in a vsix are local ones
        "PYTHON": str(tools / "python"),
        "PIP_NO_BUILD_ISOLATION": "false",  # which means: hatchling is the one that is here
    }
    _run(source, env, tools / "python", "-m", "build", "--quiet", "--no-isolation", "--outdir", made, ".")
    extension = source / "editors" / "vscode"
    _run(extension, env, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
    _run(extension, env, "npm", "run", "--silent", "package")
    vsix = made / f"odin-{release.version}.vsix"
    (extension / "dist" / "odin.vsix").rename(vsix)
    plugin = made / f"odin.nvim-{release.version}.tar.gz"
    plugin.write_bytes(_plugin(source, int(release.seconds)))
    wheel, sdist = next(made.glob("*.whl")), next(made.glob("odin_lsp-*.tar.gz"))
    return [Built("sdist", sdist), Built("wheel", wheel), Built("vsix", vsix), Built("plugin", plugin)]


def _plugin(source: Path, seconds: int) -> bytes:
    """The folder as Neovim's `packpath` wants it, without what only its makers need."""
    folder = source / "editors" / "neovim"
    files = {it.relative_to(folder).as_posix(): it for it in folder.rglob("*") if it.is_file()}
    files["LICENSE"] = source / "LICENSE"
    packed = io.BytesIO()
    with gzip.GzipFile("", "wb", 9, packed, seconds) as zipped, tarfile.open(fileobj=zipped, mode="w") as archive:
        for name in sorted(it for it in files if not it.startswith(NOT_OF_THE_PLUGIN)):
            entry = tarfile.TarInfo(f"odin.nvim/{name}")
            data = files[name].read_bytes()
            entry.size, entry.mtime, entry.mode = len(data), seconds, 0o644
            archive.addfile(entry, io.BytesIO(data))
    return packed.getvalue()


def _unpack(commit: str, folder: Path) -> None:
    archive = subprocess.run(
        ["git", "-C", ROOT, "archive", "--format=tar", commit], check=True, capture_output=True, timeout=PATIENCE
    )
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
        files.extractall(folder, filter="data")


def _version(text: str) -> str:
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__version__":
            return ast.literal_eval(node.value)
    raise LookupError("__version__")


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=PATIENCE).stdout.strip()


def _run(folder: Path, env: dict[str, str], *command: str | Path) -> None:
    sys.stdout.write(f"{folder.name}: {' '.join(Path(it).name for it in command)}\n")
    sys.stdout.flush()
    subprocess.run(command, cwd=folder, env=env, check=True, timeout=PATIENCE, umask=0o022)
