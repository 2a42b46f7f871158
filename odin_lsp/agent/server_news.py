"""Tells whoever watches that the states of servers have changed: what comes close together is told once."""

import asyncio
from collections.abc import Callable

from odin_lsp.events import Event
from odin_lsp.server_states import ServersChanged

PAUSE_SECONDS = 0.1
"""Between a change and its news."""


class ServerNews:
    def __init__(self, look: Callable[[], ServersChanged], emit: Callable[[Event], None]) -> None:
        """`look`: at all servers, as they are now."""
        self._look = look
        self._emit = emit
        self._told = ServersChanged()
        self._timer: asyncio.TimerHandle | None = None

    def note_change(self) -> None:
        """Something may be different: it is looked for in a moment."""
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(PAUSE_SECONDS, self._tell)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _tell(self) -> None:
        self._timer = None
        now = self._look()
        if now != self._told:
            self._told = now
            self._emit(now)
