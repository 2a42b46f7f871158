"""`$/setTrace`: with `messages` the client gets what Odin logs as `$/logTrace`, with `verbose` all of it."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from lsprotocol import types

from odin_lsp.logs import Logs

NOTHING = logging.CRITICAL + 1
LEVELS = {types.TraceValue.Messages: logging.INFO, types.TraceValue.Verbose: logging.DEBUG}


class Tracing(logging.Handler):
    def __init__(self, logs: Logs, notify: Callable[[str, Any], None]) -> None:
        super().__init__(NOTHING)
        self._logs = logs
        self._notify = notify
        self._loop: asyncio.AbstractEventLoop | None = None
        self.setFormatter(logs.lines)

    def set(self, value: types.TraceValue | None) -> None:
        level = LEVELS.get(value, NOTHING) if value else NOTHING
        if level != self.level:
            self._loop = asyncio.get_running_loop()
            self.setLevel(level)
            self._logs.copy_to(self)

    def emit(self, record: logging.LogRecord) -> None:
        """Whatever thread it comes from."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._send, self.format(record))

    def _send(self, text: str) -> None:
        message, _, rest = text.partition("\n")
        verbose = rest if rest and self.level == logging.DEBUG else None
        self._notify(types.LOG_TRACE, types.LogTraceParams(message, verbose))
