"""An Odin without an editor, for the terminals of one folder. It ends when nobody has needed it for a while."""

import asyncio
import os
import signal
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from odin_lsp import __version__
from odin_lsp.agent.core import Core
from odin_lsp.errors import RequestError
from odin_lsp.host import place
from odin_lsp.host.place import Owner
from odin_lsp.host.starting import PATIENCE
from odin_lsp.ide.sight import Sight
from odin_lsp.library.disk_editor import DiskEditor
from odin_lsp.logs import Logs
from odin_lsp.ports import Review, ReviewAnswer
from odin_lsp.project.project import Project, Told
from odin_lsp.server.commands.base import all_commands
from odin_lsp.server.front_ends import FrontEnds
from odin_lsp.server.handshake import ServerInfo, info
from odin_lsp.server.listening import Listening
from odin_lsp.tasks import Tasks, run_to_end
from odin_lsp.workspace.buffers import Buffers

NO_DOCUMENTS = "messages are written in documents of an editor, and there is none; send the text itself"
LOOK = 0.5
"""Seconds between two looks whether somebody needs it."""


class Nobody(DiskEditor):
    """Files are changed on disk. Guests decide on it, or somebody who comes later."""

    async def review(self, review: Review) -> ReviewAnswer | None:
        return None


class Resident:
    def __init__(self, root: Path) -> None:
        """Before a loop runs: settings are read, and what checks them is set up."""
        self.project = Project(Told(roots=(root,)), can_pick=False)
        self.front_ends = FrontEnds(Nobody(), has_screen=False)
        self.sight = Sight(Buffers())
        self.core = Core(self.project, self.front_ends)
        self.core.stream.subscribe(self.front_ends.follow)
        self._tasks = Tasks()
        self._listening = Listening(self)
        self._ends = asyncio.Event()
        self._is_stopped = False

    @property
    def instructions(self) -> NoReturn:
        raise RequestError(NO_DOCUMENTS)

    def background(self, work: Coroutine[Any, Any, None]) -> None:
        self._tasks.begin(work)

    def info(self) -> ServerInfo:
        return replace(info(self.project), resident=True)

    async def keep_trust(self) -> None:
        await asyncio.to_thread(self.project.keep_trust)

    async def run(self) -> int:
        """Until it is stopped, another takes its place, or it was idle for as long as the settings say."""
        await asyncio.to_thread(all_commands)
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(place.MAKE_WAY, self._ends.set)
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop)
        with place.listening(Owner(os.getpid(), str(self.project.now.root), __version__, is_resident=True)) as listener:
            if listener is None:
                return 0
            accepting = self._tasks.begin(self._listening.accept(listener))
            self._tasks.begin(self.core.restore_reviews())
            await self._idle()
            accepting.cancel()
            await asyncio.gather(accepting, return_exceptions=True)
        while self._is_at_work and not self._is_stopped:  # noqa: ASYNC110 nobody tells of its end
            await asyncio.sleep(LOOK)
        await self.core.close()
        await self._listening.close()
        await self._tasks.close()
        return 0

    def _stop(self) -> None:
        self._is_stopped = True
        self._ends.set()

    async def _idle(self) -> None:
        """Until nobody has needed it for long enough."""
        loop = asyncio.get_running_loop()
        needed = loop.time() + PATIENCE
        while not self._ends.is_set():
            if self._listening.guests or self._is_at_work:
                needed = loop.time()
            elif loop.time() - needed > self.project.now.config.host.idle:
                return
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK):
                    await self._ends.wait()

    @property
    def _is_at_work(self) -> bool:
        return any(not live.is_idle for live in self.core.sessions)


def serve(root: Path) -> int:
    resident, logs = Resident(root), Logs("warning")
    logs.configure(resident.project.now.config.log_level)
    logs.begin()
    return run_to_end(resident.run())
