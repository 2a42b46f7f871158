"""What the doors of all agents need of Odin, and what all agents may know."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from odin_lsp.agent.core import Core
from odin_lsp.errors import ToolError
from odin_lsp.ide.changes import OUTSIDE, Changes
from odin_lsp.ide.sight import Sight
from odin_lsp.intelligence.servers import Problem
from odin_lsp.ports import Editor
from odin_lsp.workspace.text import split_lines
from odin_lsp.workspace.uris import path_of

SEVERITIES = {"error": "Error", "warning": "Warning", "information": "Info", "hint": "Hint"}


class Window(Editor, Protocol):
    async def open_document(self, uri: str, line: int | None = None) -> bool:
        """Have the user look at it; whether the editor shows it."""
        ...


@dataclass(frozen=True, slots=True)
class Desk:
    core: Core
    window: Window
    sight: Sight
    title: str
    """What agents call this IDE."""

    @property
    def roots(self) -> tuple[Path, ...]:
        return self.core.project.now.roots

    def changes(self, agent: str) -> Changes:
        return Changes(self.core, self.window, agent)

    def path(self, name: str) -> Path:
        """Of a file that agents may know of; `ToolError` if they may not."""
        place = self.core.files.resolve(str(path_of(name) or name) if name.startswith("file:") else name)
        if not place.inside:
            raise ToolError(f"{name} {OUTSIDE}")
        return place.path

    async def problems(self, name: str | None) -> list[dict[str, Any]]:
        """Of a file as it is on the screen; without one, all that is known."""
        wanted = [self.path(name)] if name else []
        wait = self.core.project.now.config.diagnostics.wait if wanted else 0
        found = await self.core.servers.problems(wanted, wait)
        files = self.core.files
        shown = [it for it in found if files.contains(it) and not files.ignore.hides(it)]
        return [{"uri": it.as_uri(), "diagnostics": self._told(it, found[it].found)} for it in shown]

    def _told(self, path: Path, found: Sequence[Problem]) -> list[Mapping[str, Any]]:
        text = self.core.desk.applier.text(path) if found else None
        lines = split_lines(text or "")
        return [
            {
                "message": it.message,
                "severity": SEVERITIES[it.severity],
                "range": {
                    "start": _place(lines, it.line, it.character),
                    "end": _place(lines, it.end_line, it.end_character),
                },
                "source": it.source,
                "code": it.code,
            }
            for it in found
        ]


def _place(lines: Sequence[str], line: int, character: int) -> dict[str, int]:
    """In UTF-16, as agents count."""
    before = lines[line][:character] if line < len(lines) else ""
    return {"line": line, "character": len(before.encode("utf-16-le", "surrogatepass")) // 2 or character}
