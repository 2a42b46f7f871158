"""What a conversation shows."""

from odin_lsp.events import EventRecord
from odin_lsp.terminal.drawing import Canvas, lines, markdown
from odin_lsp.terminal.telling import Telling


class Screen:
    def __init__(self) -> None:
        self._canvas = Canvas()
        self._telling = Telling()

    @property
    def activity(self) -> str:
        return self._telling.activity

    def print_settled(self, record: EventRecord) -> None:
        for it in self._telling.settled(record):
            self._canvas.put(it)

    def under_way(self) -> str:
        """As text, with the escape sequences for its colors."""
        return self._canvas.text_of(self._telling.under_way(self._canvas.height))

    def print_message(self, text: str, verb: str) -> None:
        self._canvas.put(lines(f"\n{verb} › {text}", "bold"))

    def print_exchange(self, text: str, answer: str) -> None:
        """The last one of a session that goes on."""
        self._canvas.put(lines(f"\n› {text}", "bold"))
        self._canvas.put(markdown(answer))
