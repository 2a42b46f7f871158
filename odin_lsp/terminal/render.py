"""Events on a terminal: JSON lines, plain text, or Markdown with live progress."""

import json
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Protocol

from odin_lsp.events import PASSING, EventRecord, MessageFinished, Notice, TurnFinished
from odin_lsp.records import Outcome
from odin_lsp.terminal.output import PipedOutput
from odin_lsp.terminal.person import say
from odin_lsp.values import to_wire
from odin_lsp.workspace.uris import path_of


class Renderer(Protocol):
    def show(self, record: EventRecord) -> None: ...
    def close(self) -> None: ...
    def paused(self) -> AbstractContextManager[None]:
        """The screen belongs to somebody else meanwhile."""
        ...


class JsonRenderer:
    """One `odin/event` a line; the last one is `turnFinished`. Deltas are left out if nobody keeps up with them."""

    def __init__(self, output: PipedOutput) -> None:
        self._output = output
        self._finished = False

    def show(self, record: EventRecord) -> None:
        if self._finished or (self._output.is_crowded and record.event.kind in PASSING):
            return
        self._output.write(json.dumps(to_wire(record)) + "\n")
        self._finished = isinstance(record.event, TurnFinished)

    def close(self) -> None:
        pass

    def paused(self) -> AbstractContextManager[None]:
        return nullcontext()


class PlainRenderer:
    """The answer on stdout, for pipes; what went wrong on stderr."""

    def __init__(self, output: PipedOutput) -> None:
        self._output = output
        self._last = ""
        """What the model said last: all that there is of an answer that was cut off."""

    def show(self, record: EventRecord) -> None:
        match record.event:
            case MessageFinished(text):
                self._last = text
            case TurnFinished(outcome):
                self._finish(outcome)
            case Notice(level, message):
                say(f"{level}: {message}")
            case _:
                pass

    def close(self) -> None:
        pass

    def paused(self) -> AbstractContextManager[None]:
        return nullcontext()

    def _finish(self, outcome: Outcome) -> None:
        from odin_lsp.terminal.telling import ending, placed, spent  # nobody waits any more

        is_cut_off = outcome.reason in ("interrupted", "aborted")
        answer = outcome.answer or (self._last if is_cut_off else "")
        self._output.write(f"{answer}\n" if answer else "")
        if outcome.reason != "end_turn":
            say(f"{ending(outcome)}{f' · {spent(outcome.usage, outcome.duration_ms)}' if is_cut_off else ''}")
        if outcome.plan:
            say(f"the plan: {path_of(outcome.plan)}")
        for it in outcome.diagnostics:
            say(f"left by this turn: {placed(it)}")


class RichRenderer:
    """Markdown as it streams, a line per tool, a spinner, and the usage at the end."""

    def __init__(self) -> None:
        from rich.console import Console  # what is piped needs none of it
        from rich.live import Live

        from odin_lsp.terminal.telling import Telling

        self._console = Console(highlight=False)
        self._telling = Telling()
        self._live = Live(console=self._console, refresh_per_second=12, transient=True)
        self._live.start()

    def show(self, record: EventRecord) -> None:
        settled = list(self._telling.settled(record))
        if isinstance(record.event, TurnFinished):
            self._live.stop()
        elif self._live.is_started:
            self._live.update(self._telling.under_way(self._console.height), refresh=bool(settled))
        for it in settled:
            self._console.print(it)

    def close(self) -> None:
        self._live.stop()

    @contextmanager
    def paused(self) -> Generator[None]:
        self._live.stop()
        try:
            yield
        finally:
            self._live.start()
