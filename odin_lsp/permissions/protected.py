"""Files that are code for Odin, the editor, git or the shell: changing one always asks, also where it would be new."""

import re
from collections.abc import Sequence
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
WITH_SCHEMA = frozenset({".json", ".jsonc", ".json5", ".yaml", ".yml"})
_REMOTE_SCHEMA = re.compile(r"""\$schema["']?\s*[:=]\s*["']?([a-z][a-z0-9+.-]*://[^\s"']+)""", re.IGNORECASE)


def caution(paths: Sequence[Path], old: str, new: str) -> tuple[str, bool]:
    """What a person should know before they let these files become so, and whether they must be asked in any case."""
    notes = [protection(path) for path in paths]
    if any(path.suffix.lower() in WITH_SCHEMA for path in paths):
        added = sorted(set(_REMOTE_SCHEMA.findall(new)) - set(_REMOTE_SCHEMA.findall(old)))
        notes += [f"has the editor fetch {url}" for url in added]
    must_ask = any(notes)
    if any(_is_one_of(path, RUNS_LATER) for path in paths):
        notes.append("will be executed later, by others than Odin")
    return "; ".join(dict.fromkeys(filter(None, notes))), must_ask


def protection(path: Path) -> str:
    """Why a change of this file always asks; empty if it does not. Names are compared in every disguise."""
    return next((reason for reason, patterns in PATTERNS.items() if _is_one_of(path, patterns)), "")


def _is_one_of(path: Path, patterns: Sequence[str]) -> bool:
    parts = [folded(part) for part in path.parts]
    return any(_matches(parts, pattern) for pattern in patterns)


def _matches(parts: list[str], pattern: str) -> bool:
    folder = pattern.removesuffix("/**")
    if folder == pattern:
        return fnmatchcase(parts[-1], pattern)
    wanted = list(PurePath(folder).parts)
    return any(parts[start : start + len(wanted)] == wanted for start in range(len(parts) - len(wanted)))
