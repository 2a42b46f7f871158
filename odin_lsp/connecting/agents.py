"""What each agent must be told to use Odin, and in which of its files."""

import json
import os
import shlex
import shutil
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from odin_lsp.connecting.codex_sandbox import FLAGS

Agent = Literal["claude", "codex", "gemini", "opencode"]
Scope = Literal["project", "user"]

NAMES: dict[Agent, str] = {"claude": "Claude Code", "codex": "Codex", "gemini": "Gemini CLI", "opencode": "opencode"}
HOURS = 6
"""That a review may take; then the edit is refused."""
SECONDS = HOURS * 3600
LATER = 600
"""Seconds after which the agent gives up itself: it would make the edit without a review."""
EDITING = ("Edit", "Write", "NotebookEdit")
AROUND: dict[Agent, str] = {
    "claude": "its shell (Bash) can still write files; deny it, or use Claude Code's sandbox",
    "codex": (
        "its own edits are refused by its read-only sandbox only, so they are not reviewed where that is lifted: for a"
        f" command, by a profile with another `sandbox_mode`, or by {FLAGS}; with `--hook` Odin is asked there as well"
    ),
    "gemini": "its shell (run_shell_command) can still write files; exclude it, or use Gemini CLI's sandbox",
    "opencode": 'its shell (bash) can still write files; deny it with `"permission": {"bash": "deny"}`',
}
"""The ways past the review."""
CODEX_WITH_HOOK = (
    "what its shell writes where its read-only sandbox is lifted: for a command, by a profile with another"
    f" `sandbox_mode`, or by {FLAGS}; before its own edits its hook asks Odin there as well"
)
CODEX_HOOK = (
    "Codex runs a hook only after you trust it: start `codex`, type /hooks, and trust Odin's. Until then its sandbox"
    " refuses its edits"
)
PLUGIN_MARK = "// from odin-lsp connect"


@dataclass(frozen=True, slots=True)
class Member:
    """Of an object in JSON."""

    path: tuple[str, ...]
    value: Any
    is_last: bool = False
    """It counts for nothing before others."""


@dataclass(frozen=True, slots=True)
class Item:
    """Of a list in JSON."""

    path: tuple[str, ...]
    value: Any


@dataclass(frozen=True, slots=True)
class JsonFile:
    file: Path
    changes: tuple[Member | Item, ...]


@dataclass(frozen=True, slots=True)
class TomlFile:
    file: Path
    keys: tuple[tuple[str, str], ...]
    """Before the first table."""
    tables: str
    ours = ("mcp_servers.odin", "hooks.PreToolUse")
    """What the names of its tables begin with."""


@dataclass(frozen=True, slots=True)
class OwnFile:
    """One that is Odin's altogether."""

    file: Path
    text: str


Piece = JsonFile | TomlFile | OwnFile


def pieces(agent: Agent, scope: Scope, root: Path, *, hook: bool) -> tuple[Piece, ...]:
    """`hook`: the agent keeps its own tools for editing, and Odin is asked before each use."""
    return tuple(replace(it, file=it.file.resolve()) for it in _pieces(agent, scope, root, hook=hook))


def all_pieces(agent: Agent, scope: Scope, root: Path) -> tuple[Piece, ...]:
    """Of both kinds, each file once."""
    merged: dict[Path, Piece] = {}
    for piece in (*pieces(agent, scope, root, hook=False), *pieces(agent, scope, root, hook=True)):
        first = merged.get(piece.file)
        if isinstance(first, JsonFile) and isinstance(piece, JsonFile):
            more = tuple(it for it in piece.changes if it not in first.changes)
            piece = JsonFile(piece.file, (*first.changes, *more))
        merged[piece.file] = piece
    return tuple(merged.values())


def what_goes_around(agent: Agent, *, hook: bool) -> str:
    return f"{CODEX_WITH_HOOK}. {CODEX_HOOK}" if agent == "codex" and hook else AROUND[agent]


def program() -> str:
    """By its name where that finds it: files of a project are shared."""
    return "odin-lsp" if shutil.which("odin-lsp") else str(Path(sys.executable).with_name("odin-lsp"))


def _pieces(agent: Agent, scope: Scope, root: Path, *, hook: bool) -> tuple[Piece, ...]:
    home = Path.home()
    match agent:
        case "claude":
            return _claude(scope, root, home, hook=hook)
        case "codex":
            own = Path(os.environ.get("CODEX_HOME") or home / ".codex")
            return (_codex((root / ".codex" if scope == "project" else own) / "config.toml", hook=hook),)
        case "gemini":
            return (_gemini((root if scope == "project" else home) / ".gemini" / "settings.json", hook=hook),)
        case "opencode":
            own = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config") / "opencode"
            return _opencode(root if scope == "project" else own, hook=hook)


def _claude(scope: Scope, root: Path, home: Path, *, hook: bool) -> tuple[Piece, ...]:
    chosen = os.environ.get("CLAUDE_CONFIG_DIR")
    folder = root / ".claude" if scope == "project" else Path(chosen or home / ".claude")
    servers = root / ".mcp.json" if scope == "project" else Path(chosen or home) / ".claude.json"
    server = {**_server(), "timeout": SECONDS * 1000, "alwaysLoad": True}
    command = {"type": "command", "command": _hook_command("claude"), "timeout": SECONDS + LATER}
    review = Item(("hooks", "PreToolUse"), {"matcher": "|".join((*EDITING, "MultiEdit")), "hooks": [command]})
    off = [Item(("permissions", "deny"), name) for name in EDITING]
    approved = [Item(("enabledMcpjsonServers",), "odin")] if scope == "project" else []
    return (
        JsonFile(servers, (Member(("mcpServers", "odin"), server),)),
        JsonFile(
            folder / "settings.json",
            (Item(("permissions", "allow"), "mcp__odin"), *([review] if hook else off), *approved),
        ),
    )


def _codex(file: Path, *, hook: bool) -> Piece:
    """The sandbox holds in any case: a hook that nobody has trusted is not run, and Odin makes the edits itself. Codex
    hides the environment, by which the editor's Odin is found."""
    server = {
        **_server(),
        "env_vars": ["XDG_RUNTIME_DIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME"],
        "required": True,
        "startup_timeout_sec": 60,
        "default_tools_approval_mode": "approve",
        "tool_timeout_sec": SECONDS,
    }
    tables = "[mcp_servers.odin]\n" + "".join(f"{name} = {json.dumps(it)}\n" for name, it in server.items())
    if hook:
        tables += '\n[[hooks.PreToolUse]]\nmatcher = "apply_patch|Edit|Write"\n\n[[hooks.PreToolUse.hooks]]\n'
        tables += f'type = "command"\ncommand = {json.dumps(_hook_command("codex"))}\ntimeout = {SECONDS + LATER}\n'
    return TomlFile(file, (("sandbox_mode", "read-only"),), tables)


def _gemini(file: Path, *, hook: bool) -> Piece:
    server = {**_server(), "timeout": SECONDS * 1000, "trust": True}
    command = {"type": "command", "command": _hook_command("gemini"), "timeout": (SECONDS + LATER) * 1000}
    review = Item(("hooks", "BeforeTool"), {"matcher": "replace|write_file", "hooks": [command]})
    off = [Item(("tools", "exclude"), name) for name in ("replace", "write_file")]
    changes = [Member(("hooksConfig", "enabled"), True), review] if hook else off
    return JsonFile(file, (Member(("mcpServers", "odin"), server), *changes))


def _opencode(folder: Path, *, hook: bool) -> tuple[Piece, ...]:
    commented = folder / "opencode.jsonc"
    file = commented if commented.exists() else folder / "opencode.json"
    command = [program(), "mcp", "serve"]
    server = {"type": "local", "command": command, "enabled": True, "timeout": SECONDS * 1000}
    added = Member(("mcp", "odin"), server)
    if not hook:
        return (JsonFile(file, (added, Member(("permission", "edit"), "deny", is_last=True))),)
    plugin = "opencode-odin.js"  # not in its folder for plugins: what is there makes opencode install packages from npm
    return (JsonFile(file, (added, Item(("plugin",), f"./{plugin}"))), OwnFile(folder / plugin, _plugin()))


def _server() -> dict[str, Any]:
    return {"command": program(), "args": ["mcp", "serve"]}


def _hook_command(agent: Agent) -> str:
    """Agents take any failure but this one for a yes, and Odin may not even start."""
    return f"{shlex.quote(program())} hook {agent} || exit 2"


def _plugin() -> str:
    template = Path(__file__).with_name("opencode_plugin.js").read_text(encoding="utf-8")
    return f"{PLUGIN_MARK}\n{template.replace('PROGRAM', json.dumps(program()))}"
