"""Files that are code for Odin, the editor, git or the shell: changing one always asks, also where it would be new."""

import os
import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path, PurePath

from odin_lsp.workspace.uris import folded

ODIN = "changes Odin's own permissions"
EDITOR = "changes settings that the editor runs"
GIT = "changes what git runs"
INSTRUCTIONS = "changes what agents are told"
PERSISTENCE = "runs when you log in, or later"
PATTERNS: dict[str, tuple[str, ...]] = {
    ODIN: ("odinconfig.json", ".odin/**", ".odinignore"),
    EDITOR: (
        ".vscode/**", "*.code-workspace", ".idea/**", ".zed/**", ".nvim.lua", ".nvimrc", ".exrc", ".vimrc", ".emacs",
        ".dir-locals.el", ".helix/**", "mcp.json",
    ),
    GIT: (
        ".git/**", ".gitmodules", ".gitattributes", ".gitconfig", ".husky/**", ".pre-commit-config.yaml",
        ".githooks/**", ".config/git/**",
    ),
    INSTRUCTIONS: (
        "odin.md", "claude.md", "agents.md", "gemini.md", ".cursor/**", ".claude/**", ".codex/**", ".gemini/**",
        ".mcp.json",
    ),
    PERSISTENCE: (
        ".bashrc", ".bash_login", ".bash_profile", ".profile", ".zshenv", ".zlogin", ".zshrc", ".zprofile",
        "config.fish", ".config/fish/**", ".ssh/**", ".ripgreprc", ".npmrc", ".pypirc", "launchagents/**", "crontab",
        ".config/systemd/**",
    ),
}  # fmt: skip
RUNS_LATER = (
    ".envrc", "makefile", "package.json", "conftest.py", "setup.py", "noxfile.py", "tox.ini", ".github/**",
    ".gitlab-ci.yml", "dockerfile", "compose.yaml", "docker-compose.yml", "build.gradle", "build.rs", "justfile",
)  # fmt: skip
WITH_SCHEMA = frozenset(
    {".json", ".jsonc", ".json5", ".jsonl", ".geojson", ".webmanifest", ".ipynb", ".code-snippets", ".yaml", ".yml"}
)
LINKS = {
    name: reason
    for reason, patterns in PATTERNS.items()
    for name in (it.removesuffix("/**") for it in patterns)
    if "*" not in PurePath(name).name
}
"""Protected names, and why; in a workspace folder each may be a link to a file that is called otherwise."""
MAX_INSIDE = 10_000
"""Files of a folder that are looked at; a larger one is asked about as if it held something."""
TOO_MANY = "changes more files than can be looked at"
_REMOTE_SCHEMA = re.compile(r"""\$schema["']?\s*[:=]\s*["']?([a-z][a-z0-9+.-]*:)?(//[^\s"']+)""", re.IGNORECASE)
_ESCAPED = re.compile(r"\\u([0-9a-f]{4})", re.IGNORECASE)


def caution(paths: Sequence[Path], old: str, new: str, roots: Sequence[Path] = ()) -> tuple[str, bool]:
    """What a person should know before they let these files become so, and whether they must be asked in any case.

    A file in a workspace folder is also what a link of a protected name there makes of it; a folder, what is in it."""
    notes = [protection(path) for path in paths]
    notes += [_linked(path, roots) for path in paths]
    notes += [GIT for path in paths if any(_is_git_folder(folder) for folder in path.parents)]
    notes += _inside(paths)
    if any(path.suffix.lower() in WITH_SCHEMA for path in paths):
        notes += [f"has the editor fetch {url}" for url in sorted(_schemas(new) - _schemas(old))]
    must_ask = any(notes)
    if any(_is_one_of(path, RUNS_LATER) for path in paths):
        notes.append("will be executed later, by others than Odin")
    return "; ".join(dict.fromkeys(filter(None, notes))), must_ask


def protection(path: Path) -> str:
    """Why a change of this file always asks; empty if it does not. Names are compared in every disguise."""
    return next((reason for reason, patterns in PATTERNS.items() if _is_one_of(path, patterns)), "")


def _linked(path: Path, roots: Sequence[Path]) -> str:
    """Why this file, which a link in a workspace folder leads to, is a protected one; empty if it is none."""
    for root in roots:
        for name, reason in LINKS.items():
            if _leads_to(f"{root}{os.sep}{name}", path):
                return reason
    return ""


def _is_git_folder(folder: Path) -> bool:
    """By what is in it: a worktree's or submodule's may have any name, and so may a bare repository."""
    return (folder / "HEAD").is_file() and (folder / "objects").is_dir() and (folder / "refs").is_dir()


def _leads_to(link: str, path: Path) -> bool:
    try:
        there = os.stat(link)  # noqa: PTH116 - most are not there, which has to be found out quickly: it is on the loop
        return path.is_relative_to(Path(link).resolve(strict=True)) or os.path.samestat(there, path.stat())
    except OSError:
        return False


def _inside(paths: Sequence[Path]) -> list[str]:
    """The reasons of what is in these folders, under their names, and under those that they would get."""
    found: dict[str, None] = {}
    for number, name in enumerate(name for folder in paths if folder.is_dir() for name in _below(folder)):
        if number == MAX_INSIDE:
            return [*found, TOO_MANY]
        found.update(dict.fromkeys(protection(path / name) for path in paths))
    return list(found)


def _below(folder: Path) -> Iterator[Path]:
    for place, folders, files in os.walk(folder):
        yield from (Path(place, name).relative_to(folder) for name in (*folders, *files))


def _schemas(text: str) -> set[str]:
    """The addresses that it has an editor fetch as schemas, however they are escaped."""
    plain = _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text).replace("\\/", "/")
    return {scheme + address for scheme, address in _REMOTE_SCHEMA.findall(plain)}


def _is_one_of(path: Path, patterns: Sequence[str]) -> bool:
    parts = [folded(part) for part in path.parts]
    return any(_matches(parts, pattern) for pattern in patterns)


def _matches(parts: list[str], pattern: str) -> bool:
    folder = pattern.removesuffix("/**")
    if folder == pattern:
        return fnmatchcase(parts[-1], pattern)
    wanted = list(PurePath(folder).parts)
    return any(parts[start : start + len(wanted)] == wanted for start in range(len(parts)))
