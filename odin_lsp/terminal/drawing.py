"""What is drawn on a terminal: the only way to rich, and so to colors and to lines that are drawn over. What others
wrote is made fit to be shown where a piece is made of it, and once more where the piece is drawn: Markdown has ways of
its own to write a character, such as `&#x202e;` and, in links, `%1b`."""

import sys
from collections.abc import Iterable, Iterator
from typing import TextIO

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.live import Live
from rich.markdown import Markdown
from rich.segment import Segment
from rich.spinner import Spinner
from rich.text import Text

from odin_lsp.display import shown, shown_after, shown_line
from odin_lsp.markdown import harmless

Drawn = RenderableType
REFRESHES = 12
"""A second."""


def lines(text: str, style: str = "") -> Drawn:
    """As many as it has."""
    return Text(shown(text), style=style)


def line(text: str, style: str = "") -> Drawn:
    """One, which is broken where the screen ends."""
    return Text(shown_line(text), style=style)


def row(*parts: tuple[str, str]) -> Drawn:
    """One, which ends where the screen ends: texts and their styles."""
    made = Text(no_wrap=True, overflow="ellipsis")
    for text, style in parts:
        made.append(shown_line(text), style=style)
    return made


def markdown(text: str) -> Drawn:
    return Markdown(harmless(shown(text)), hyperlinks=False)


def stacked(*pieces: Drawn) -> Drawn:
    return Group(*pieces)


class Activity:
    """A spinner, and what is being done."""

    def __init__(self) -> None:
        self._spinner = Spinner("dots")

    def drawn(self, what: str) -> Drawn:
        self._spinner.update(text=row((what, "dim")))
        return self._spinner


class Canvas:
    """Draws for the terminal, whatever stands in for it while a line is edited there."""

    def __init__(self, file: TextIO | None = sys.__stdout__) -> None:
        self._console = Console(file=file, highlight=False, markup=False, emoji=False)

    @property
    def height(self) -> int:
        return self._console.height

    def text_of(self, it: Drawn) -> str:
        """As text, with the escape sequences for its colors."""
        with self._console.capture() as captured:
            self._console.print(_Guarded(it))
        return captured.get()

    def put(self, it: Drawn) -> None:
        """Print it, above the line in which the person writes, if there is one."""
        sys.stdout.write(self.text_of(it))
        sys.stdout.flush()


class LiveCanvas(Canvas):
    """With a part at its end that is drawn over, again and again."""

    def __init__(self) -> None:
        super().__init__(None)
        self._live = Live(console=self._console, refresh_per_second=REFRESHES, transient=True)
        self.start = self._live.start
        self.stop = self._live.stop

    def draw_over(self, it: Drawn, *, at_once: bool) -> None:
        if self._live.is_started:
            self._live.update(_Guarded(it), refresh=at_once)

    def put(self, it: Drawn) -> None:
        self._console.print(_Guarded(it))


class _Guarded:
    def __init__(self, it: Drawn) -> None:
        self._it = it

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from _guarded(console.render(self._it, options))


def _guarded(segments: Iterable[Segment]) -> Iterator[Segment]:
    before = ""
    for it in segments:
        yield Segment(shown_after(before, it.text), it.style, it.control)
        before = it.text[-1:]
