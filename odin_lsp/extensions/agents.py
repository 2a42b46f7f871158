"""Subagents that a project or a user describes: a head, and what they are told."""

import re
from dataclasses import dataclass
from typing import Literal

from odin_lsp.extensions.front_matter import Misunderstood, Note, parse
from odin_lsp.extensions.places import Brought

_NAME = re.compile(r"[A-Za-z][\w-]{0,40}")
_WRITES = frozenset({"Edit", "MultiEdit", "Write", "NotebookEdit", "EditTool", "MultiEditTool", "WriteFile"})
_RUNS = frozenset({"Bash", "ExecuteCommand"})


@dataclass(frozen=True, slots=True)
class NamedAgent:
    name: str
    description: str
    prompt: str
    mode: Literal["ask", "plan", "edit"] | None = None
    """At most this, whatever is asked of it."""
    model: str | None = None

    def __str__(self) -> str:
        return f"- {self.name}: {self.description}"


def agent_of(file: Brought) -> NamedAgent:
    """Raises `Misunderstood`."""
    note = parse(file.content)
    name = note.text("name") or file.name
    if not _NAME.fullmatch(name):
        raise Misunderstood(f"`name` {name!r} must begin with a letter and have letters, digits, `-` and `_` only")
    model = note.text("model")
    return NamedAgent(name, note.text("description"), note.body, _mode(note), model if "/" in model else None)


def _mode(note: Note) -> Literal["ask", "plan", "edit"] | None:
    """Odin's own word; else what the tools come to that others list: one that has none that write only reads."""
    match note.text("mode") or note.text("permissionMode"):
        case "ask" | "plan" | "edit" as mode:
            return mode
        case "" | "default" | "acceptEdits" | "bypassPermissions" | "dontAsk":
            pass
        case other:
            raise Misunderstood(f"`mode` is {other!r}; it must be ask, plan or edit")
    tools = {it.partition("(")[0] for it in note.words("tools")}
    writes = not tools or "*" in tools or tools & (_WRITES | _RUNS)
    return None if writes else "ask"
