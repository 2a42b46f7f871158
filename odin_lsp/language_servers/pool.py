"""Odin's own language servers: those for a file, which of them run, and what they know of problems."""

import asyncio
import os
import secrets
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path

from odin_lsp import state_folder
from odin_lsp.commands.kept import PAUSES, START_SECONDS, Times
from odin_lsp.intelligence.servers import Problems, Server
from odin_lsp.language_servers.choosing import Around, Candidate, folder_of, for_file, project_of
from odin_lsp.language_servers.kept import KeptServer
from odin_lsp.language_servers.own_server import OwnServer
from odin_lsp.language_servers.reported import NOT_KNOWN
from odin_lsp.ports import Level
from odin_lsp.server_states import ServerState
from odin_lsp.tasks import Tasks
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.search import Search

Meant = tuple[Candidate, Path]
"""A server for a file, and the project that it would serve."""


class OwnServers:
    def __init__(
        self,
        files: Files,
        search: Search,
        around: Around,
        notify: Callable[[Level, str], None],
        changed: Callable[[], None] = lambda: None,
        *,
        pauses: Sequence[float] = PAUSES,
        start_seconds: float = START_SECONDS,
    ) -> None:
        self._files = files
        self._search = search
        self._around = around
        self._notify = notify
        self._changed = changed
        self._pauses = pauses
        self._start_seconds = start_seconds
        self._kept: dict[tuple[str, Path], KeptServer] = {}
        self._tasks = Tasks()
        self._is_closed = False

    def adapt(self, around: Around) -> None:
        """Other folders, settings or trust: what runs was started for those before."""
        if around != self._around:
            self._around = around
            self._drop_all()

    async def of(self, path: Path) -> Sequence[Server]:
        running = [server for _, server in await self._running(path) if server is not None]
        for server in running:
            server.meant_for(path)
        return running

    async def problems(self, paths: Collection[Path], patience: float) -> Mapping[Path, Problems]:
        if not paths:
            return _joined([it.server.reported() for it in self._kept.values() if it.server is not None])
        until = time.monotonic() + patience
        asked: dict[OwnServer, list[Path]] = {}
        silent: dict[Path, Problems] = {}
        try:
            async with asyncio.timeout(patience):
                for path in paths:
                    for kept, server in await self._running(path):
                        if server is not None:
                            asked.setdefault(server, []).append(path)
                        elif kept.has_worked:
                            silent[path] = NOT_KNOWN  # what it said before has not been fixed by its death
        except TimeoutError:
            return {path: NOT_KNOWN for path in paths if await self._meant(path)}
        told = await asyncio.gather(*(it.problems(served, until - time.monotonic()) for it, served in asked.items()))
        return _joined([silent, *told])

    async def all_states(self) -> Sequence[ServerState]:
        return self.states()

    def states(self, *, measure: bool = True) -> list[ServerState]:
        """`measure`: what memory they take, which takes a moment."""
        return [state for it in self._kept.values() if (state := it.state(measure=measure)) is not None]

    async def close(self) -> None:
        self._is_closed = True
        self._drop_all()
        await self._tasks.settled()

    def _drop_all(self) -> None:
        for kept in self._kept.values():
            self._tasks.begin(kept.end())
            self._changed()
        self._kept.clear()

    async def _meant(self, path: Path) -> Sequence[Meant]:
        """What is installed is looked up in a thread: for each server, every folder of `PATH` is resolved."""
        while not self._is_closed:
            around = self._around
            meant = await asyncio.to_thread(_look_up, path, around)
            if around == self._around and not self._is_closed:
                return meant
        return []

    async def _running(self, path: Path) -> Sequence[tuple[KeptServer, OwnServer | None]]:
        """Those for the file, as far as they can be asked now."""
        kept = [self._keep(candidate, root) for candidate, root in await self._meant(path)]
        return list(zip(kept, await asyncio.gather(*(it.running() for it in kept)), strict=True))

    def _keep(self, candidate: Candidate, root: Path) -> KeptServer:
        key = candidate.known.name, root
        if key in self._kept and self._kept[key].candidate != candidate:
            self._tasks.begin(self._kept.pop(key).end())  # its program is another one now
        if key not in self._kept:
            settings = self._around.settings
            times = Times(settings.timeout, settings.idle, self._start_seconds, tuple(self._pauses))
            make = partial(self._make, candidate, root, self._around)
            warn = partial(self._notify, "warning")
            self._kept[key] = KeptServer(candidate, root, make, times, self._tasks, warn, self._changed)
        return self._kept[key]

    def _make(self, candidate: Candidate, root: Path, around: Around, ended: Callable[[str], None]) -> OwnServer:
        scratch = state_folder.scratch_folder(state_folder.folder() / "commands", _scratch_name())
        return OwnServer(candidate, root, around, self._files, self._search, scratch.resolve(), ended, self._changed)


def _look_up(path: Path, around: Around) -> Sequence[Meant]:
    folder = folder_of(path, around.roots)
    return [(it, project_of(path, it.known, folder)) for it in for_file(path, around)] if folder else []


def _scratch_name() -> str:
    """By which others know that its process has ended, and remove it."""
    return f"{os.getpid()}-{secrets.token_hex(8)}"


def _joined(told: Collection[Mapping[Path, Problems]]) -> dict[Path, Problems]:
    """What several servers say of a document is current if all of it is."""
    joined: dict[Path, Problems] = {}
    for it in told:
        for path, problems in it.items():
            others = joined.get(path, Problems((), is_current=True))
            joined[path] = Problems((*others.found, *problems.found), others.is_current and problems.is_current)
    return joined
