"""Events for a pipe: JSON lines, or plain text."""

from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

from odin_lsp.display import shown_line
from odin_lsp.events import PASSING, EventRecord, MessageFinished, Notice, TurnFinished
from odin_lsp.printing import say
from odin_lsp.records import Outcome
from odin_lsp.terminal.endings import ending, placed, spent
from odin_lsp.terminal.output import PipedOutput
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
        self._output.write_json(to_wire(record))
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
        is_cut_off = outcome.reason in ("interrupted", "aborted")
        answer = outcome.answer or (self._last if is_cut_off else "")
        self._output.write_text(f"{answer}\n" if answer else "")
        if outcome.reason != "end_turn":
            say(f"{ending(outcome)}{f' · {spent(outcome.usage, outcome.duration_ms)}' if is_cut_off else ''}")
        if outcome.plan:
            say(shown_line(f"the plan: {path_of(outcome.plan)}"))
        for it in outcome.diagnostics:
            say(f"left by this turn: {placed(it)}")
