"""Tells what is wrong with the settings, and asks about what a folder brings and nobody has decided on."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from odin_lsp.config import problems_told
from odin_lsp.project.project import Situation

if TYPE_CHECKING:
    from odin_lsp.server.host import Work


class SettingsReport:
    def __init__(self, server: "Work") -> None:
        self._server = server
        self._told: tuple[str, ...] = ()
        self._asked_about: tuple[Path | None, str] = (None, "")
        """The folder, and the digest of what it brought."""

    def tell(self, now: Situation) -> None:
        """What is wrong now, unless it was just as wrong before; and ask about what the folder brings."""
        if now.standing in ("unknown", "changed") and not now.is_restricted:
            self._server.background(self._ask_for_trust())
        problems = tuple(problems_told(now.problems))
        if problems == self._told:
            return
        self._told = problems
        for problem in problems:
            self._server.editor.notify("warning", problem)

    async def _ask_for_trust(self) -> None:
        """Once for each list."""
        from odin_lsp.server.trust_questions import ask_for_trust

        project = self._server.project
        brought = await asyncio.to_thread(project.brought)
        about = (project.now.root, brought.digest)
        if brought.undecided and about != self._asked_about:
            self._asked_about = about
            await ask_for_trust(self._server, brought)
