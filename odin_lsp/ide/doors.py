"""Which agents can use this editor as their IDE: those that the user names, while the folder is trusted."""

import asyncio
import logging
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from odin_lsp.ide.announcing import CANNOT
from odin_lsp.ide.desk import Desk
from odin_lsp.project.project import Project, Situation
from odin_lsp.tasks import Tasks

log = logging.getLogger("odin.ide")
Wanted = tuple[tuple[str, ...], tuple[Path, ...]]


class Doors:
    def __init__(self, project: Project, desk: Callable[[], Desk]) -> None:
        """`desk`: made when the first door is opened."""
        self._desk = desk
        self._changed = asyncio.Event()
        self._wanted = _wanted(project.now)
        project.follow(self._look)

    async def run(self) -> None:
        """Until cancelled; whenever other agents or folders count, anew."""
        while True:
            self._changed.clear()
            opened = Tasks()
            agents, _ = self._wanted
            for agent in agents:
                opened.begin(self._open(agent))
            try:
                await self._changed.wait()
            finally:
                await opened.close()

    async def _open(self, agent: str) -> None:
        serve = (await asyncio.to_thread(import_module, f"odin_lsp.ide.{agent}")).serve
        desk = self._desk()
        try:
            await serve(desk)
        except CANNOT as error:
            desk.window.notify("warning", f"{agent} cannot use this editor as its IDE: {error}")

    def _look(self, now: Situation) -> None:
        if (wanted := _wanted(now)) != self._wanted:
            self._wanted = wanted
            self._changed.set()


def _wanted(now: Situation) -> Wanted:
    return (tuple(dict.fromkeys(now.config.ide)) if now.is_trusted else ()), now.roots
