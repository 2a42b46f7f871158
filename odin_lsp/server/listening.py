"""The sockets beside the editor, one for each folder of the project: who comes by them is a guest."""

import asyncio
import logging
import os
import socket
from collections.abc import Collection
from pathlib import Path

from odin_lsp import __version__
from odin_lsp.errors import SessionError
from odin_lsp.host import place
from odin_lsp.host.place import Owner
from odin_lsp.project.project import Situation
from odin_lsp.server.guest import Guest, Hosting
from odin_lsp.server.transport import SocketChannel
from odin_lsp.tasks import Tasks

log = logging.getLogger("odin.host")
MOST_GUESTS = 100
LOOK_AGAIN = 2.0
"""Seconds after which another Odin that listens for the folder may have ended."""


class Listening:
    def __init__(self, host: Hosting) -> None:
        self._host = host
        self._moved = asyncio.Event()
        self._roots = host.project.now.roots
        self.guests: set[Guest] = set()
        self._serving = Tasks()
        host.project.follow(self._look)

    async def run(self) -> None:
        """Until cancelled, for the folders that are open at a time."""
        listening: dict[Path, asyncio.Task[None]] = {}
        try:
            while True:
                self._moved.clear()
                left = [listening.pop(it) for it in listening.keys() - set(self._roots)]
                await _ended(left)
                for root in self._roots:
                    if root not in listening:
                        listening[root] = asyncio.create_task(self._listen(root))
                await self._moved.wait()
        finally:
            await _ended(listening.values())

    async def close(self) -> None:
        """What was said to guests until now they may still read."""
        await self._serving.close()

    def _look(self, now: Situation) -> None:
        if now.roots != self._roots:
            self._roots = now.roots
            self._moved.set()

    async def accept(self, listener: socket.socket) -> None:
        while True:
            connection, _ = await asyncio.get_running_loop().sock_accept(listener)
            self._receive(connection)

    async def _listen(self, root: Path) -> None:
        owner = Owner(os.getpid(), str(root), __version__)
        while True:
            try:
                with place.listening(owner) as listener:
                    if listener is not None:
                        await self.accept(listener)
                await asyncio.to_thread(_take_place, root)
            except (OSError, SessionError) as error:
                log.warning("other programs cannot attach to this Odin: %s", error)
            await asyncio.sleep(LOOK_AGAIN)

    def _receive(self, connection: socket.socket) -> None:
        if not place.is_own(connection):
            log.warning("somebody was not let in: another user, or what a command has started")
            connection.close()
            return
        if len(self.guests) >= MOST_GUESTS:
            connection.close()
            return
        connection.setblocking(True)
        self._serving.begin(self._serve(SocketChannel(connection)))

    async def _serve(self, channel: SocketChannel) -> None:
        try:
            guest = Guest(self._host)
            self.guests.add(guest)
            await guest.serve(channel)
            self.guests.discard(guest)
        finally:
            channel.close()


async def _ended(tasks: Collection["asyncio.Task[None]"]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _take_place(root: Path) -> None:
    """An Odin that a terminal has started makes way for that of an editor."""
    owner = place.owner_of(root)
    if owner is not None and owner.is_resident:
        place.tell(owner, place.MAKE_WAY)
