"""What a conversation shows, as text with the escape sequences for its colors."""

import sys

from rich.console import Console, RenderableType
from rich.markdown import Markdown
from rich.text import Text as Line

from odin_lsp.events import EventRecord
from odin_lsp.markdown import harmless, unlinked
from odin_lsp.terminal.telling import Telling


class Screen:
    def __init__(self) -> None:
        self._console = Console(file=sys.__stdout__, highlight=False)
        self._telling = Telling()

    @property
    def activity(self) -> str:
        return self._telling.activity

    def settled(self, record: EventRecord) -> str:
        return "".join(self._drawn(it) for it in self._telling.settled(record))

    def under_way(self) -> str:
        return self._drawn(self._telling.under_way(self._console.height))

    def said(self, text: str, verb: str) -> str:
        return self._drawn(Line(f"\n{verb} › {unlinked(text)}", style="bold"))

    def exchange(self, text: str, answer: str) -> str:
        """The last one of a session that goes on."""
        said = self._drawn(Line(f"\n› {unlinked(text)}", style="bold"))
        return said + self._drawn(Markdown(harmless(answer), hyperlinks=False))

    def _drawn(self, it: RenderableType) -> str:
        with self._console.capture() as captured:
            self._console.print(it)
        return captured.get()
