"""What a call tells while it runs, and a command that it has begun, also when the call is over."""

import time
from dataclasses import dataclass, field, replace

from odin_lsp.events import BackgroundFinished, Emit, Event, ToolProgress

MAX_OUTPUT = 20_000
"""Characters of what a call has told of its progress that are kept of it."""


@dataclass(slots=True)
class Heard:
    """What it tells goes out; what it has told in all is known when it ends, also if that is in the background. If the
    command has ended before the call, that is told behind the call's end."""

    emit: Emit
    began: float = field(default_factory=time.monotonic)
    output: str = ""
    _is_over: bool = False
    _command: BackgroundFinished | None = None

    def __call__(self, event: Event) -> None:
        if isinstance(event, ToolProgress):
            self.output = (self.output + event.text)[-MAX_OUTPUT:]
            event = replace(event, elapsed_ms=round((time.monotonic() - self.began) * 1000))
        elif isinstance(event, BackgroundFinished):
            event = replace(event, output=self.output)
            if not self._is_over:
                self._command = event
                return
        self.emit(event)

    def end(self) -> None:
        """Of the call."""
        self._is_over = True
        if self._command is not None:
            self.emit(self._command)
