"""What is logged goes to stderr: each line with its level and its component, and without secrets.

Only Odin's own components say more than warnings, whatever the level: libraries would log whole requests."""

import logging
import os
import sys
from collections.abc import Iterable
from typing import Literal

from odin_lsp.display import shown
from odin_lsp.loop_watch import watch_if_wanted
from odin_lsp.redaction import redacted, secrets_of

Level = Literal["error", "warning", "info", "debug"]
ODIN = logging.getLogger("odin")


class Lines(logging.Formatter):
    def __init__(self) -> None:
        super().__init__()
        self.secrets: tuple[str, ...] = ()

    def format(self, record: logging.LogRecord) -> str:
        text = redacted(super().format(record), self.secrets)
        return "\n".join(f"{record.levelname} {record.name}: {shown(line)}" for line in text.splitlines() or [""])


class Logs:
    def __init__(self, usual: Level) -> None:
        """`usual`: the level, where the settings name none."""
        self.lines = Lines()
        self._usual = usual
        self._stderr = logging.StreamHandler(sys.stderr)
        self._stderr.setFormatter(self.lines)
        self._handlers: list[logging.Handler] = []

    def begin(self) -> None:
        self._handlers.append(self._stderr)
        logging.getLogger().addHandler(self._stderr)
        self._settle()

    def configure(self, level: Level | None, secrets: Iterable[str] = ()) -> None:
        self.lines.secrets = (*secrets_of(os.environ), *secrets)
        self._stderr.setLevel((level or self._usual).upper())
        self._settle()

    def copy_to(self, handler: logging.Handler) -> None:
        """It gets Odin's lines too, from its own level on, which may be another now."""
        if handler not in self._handlers:
            self._handlers.append(handler)
            ODIN.addHandler(handler)
        self._settle()

    def _settle(self) -> None:
        """Nothing is made that nobody takes."""
        if self._handlers:
            ODIN.setLevel(min(it.level for it in self._handlers))
            watch_if_wanted()
