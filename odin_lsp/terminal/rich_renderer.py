"""Events on a screen. What is piped needs none of this, and what draws takes a tenth of a second to import."""

from collections.abc import Generator
from contextlib import contextmanager

from odin_lsp.events import EventRecord, TurnFinished
from odin_lsp.terminal.drawing import LiveCanvas
from odin_lsp.terminal.telling import Telling


class RichRenderer:
    """Markdown as it streams, a line per tool, a spinner, and the usage at the end."""

    def __init__(self) -> None:
        self._telling = Telling()
        self._canvas = LiveCanvas()
        self._canvas.start()

    def show(self, record: EventRecord) -> None:
        settled = list(self._telling.settled(record))
        if isinstance(record.event, TurnFinished):
            self._canvas.stop()
        else:
            self._canvas.draw_over(self._telling.under_way(self._canvas.height), at_once=bool(settled))
        for it in settled:
            self._canvas.put(it)

    def close(self) -> None:
        self._canvas.stop()

    @contextmanager
    def paused(self) -> Generator[None]:
        self._canvas.stop()
        try:
            yield
        finally:
            self._canvas.start()
