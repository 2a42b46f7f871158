"""Files that are code for Odin, the editor, git or the shell: changing one always asks, also where it would be new."""

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


def protection(path: Path) -> str:
    """Why a change of this file always asks; empty if it does not. Names are compared in every disguise."""
    parts = [folded(part) for part in path.parts]
    for reason, patterns in PATTERNS.items():
        if any(_matches(parts, pattern) for pattern in patterns):
            return reason
    return ""


def _matches(parts: list[str], pattern: str) -> bool:
    folder = pattern.removesuffix("/**")
    if folder == pattern:
        return fnmatchcase(parts[-1], pattern)
    wanted = list(PurePath(folder).parts)
    return any(parts[start : start + len(wanted)] == wanted for start in range(len(parts) - len(wanted)))
