"""Whether a server has read the project. Before that it answers as well, but with less than there is."""

import asyncio
import re
import time
from typing import Any

from odin_lsp.language_servers.known import Signal
from odin_lsp.values import is_object

QUIET_SECONDS = 0.3
"""After the last thing that it was busy with: there may be a next one."""
GRACE_SECONDS = 3.0
"""For an unknown server to say that it is busy. One that says nothing may be done, or not: nobody knows."""
_FOUND_FILES = re.compile(r"Found \d+ source files?|No source files found|.*BackgroundAnalysis: Completed after")
"""What pyright and bash-language-server log when they know the project. Pyright registers what it offers before and
after, so that tells nothing."""


class Readiness:
    def __init__(self, signal: Signal) -> None:
        self._signal = signal
        self._is_ready = signal == "at once"
        self._busy: set[str] = set()
        self._has_begun = False
        self._quiet_since = time.monotonic()
        self._shown_at: float | None = None
        self._news = asyncio.Event()
        self._has_ended = False

    @property
    def is_ready(self) -> bool:
        if self._signal in ("progress", "unknown"):
            return self._has_begun and not self._busy and self._quiet_for() >= QUIET_SECONDS
        return self._is_ready

    @property
    def tells_nothing(self) -> bool:
        """Nobody will ever know whether it is ready."""
        return not self._has_ended and self._hopeless_at() <= time.monotonic()

    def shown(self) -> None:
        """It has a document: some begin to read only then."""
        self._shown_at = self._shown_at or time.monotonic()

    def told(self, method: str, params: Any) -> None:
        """What it tells of its work."""
        if not is_object(params):
            return
        if method == "experimental/serverStatus" and self._signal == "says so":
            self._is_ready = params.get("quiescent") is True
        elif method == "window/logMessage" and self._signal == "found files":
            self._is_ready = self._is_ready or _FOUND_FILES.match(str(params.get("message"))) is not None
        elif method == "$/progress" and is_object(value := params.get("value")):
            self._progress(str(params.get("token")), str(value.get("kind")))
        self._news.set()

    def ended(self) -> None:
        """There is nothing to wait for any more."""
        self._has_ended = True
        self._news.set()

    async def by(self, until: float) -> bool:
        """Whether it is ready, waiting for it until then, or until there is nothing to wait for."""
        while not self.is_ready:
            until = min(until, self._hopeless_at())
            left = until - time.monotonic()
            if left <= 0:
                return False
            if self._has_begun and not self._busy:
                left = min(left, max(0.0, QUIET_SECONDS - self._quiet_for()) + 0.001)
            self._news.clear()
            try:
                async with asyncio.timeout(left):
                    await self._news.wait()
            except TimeoutError:
                continue
        return True

    def _hopeless_at(self) -> float:
        if self._signal == "never" or self._has_ended:
            return 0.0
        if self._signal != "unknown" or self._has_begun:
            return float("inf")
        return (self._shown_at or time.monotonic()) + GRACE_SECONDS

    def _progress(self, token: str, kind: str) -> None:
        if kind == "begin":
            self._has_begun = True
            self._busy.add(token)
        elif kind == "end":
            self._busy.discard(token)
            self._quiet_since = time.monotonic()

    def _quiet_for(self) -> float:
        return time.monotonic() - self._quiet_since
