"""Events on a terminal: JSON lines, plain text, or Markdown with live progress."""

import json
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Protocol

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.markdown import Markdown
from rich.spinner import Spinner
from rich.text import Text as Line

from odin_lsp.events import (
    PASSING,
    ActivityChanged,
    DiagnosticsCompared,
    EventRecord,
    MessageFinished,
    Notice,
    StreamRolledBack,
    TextStreamed,
    ThinkingStreamed,
    TodosChanged,
    ToolFinished,
    ToolStarted,
    TurnFinished,
)
from odin_lsp.markdown import harmless, unlinked
from odin_lsp.records import Diagnostic, Outcome, Usage
from odin_lsp.terminal.editor import say
from odin_lsp.terminal.output import PipedOutput
from odin_lsp.values import to_wire
from odin_lsp.workspace.uris import path_of, printable

MARKS = {"success": "[green]✓[/]", "error": "[red]✗[/]", "cancelled": "[yellow]–[/]"}
SPARE_LINES = 8
"""What streams must fit onto the screen together with the spinner; more could not be erased again."""
TODO_MARKS = {"pending": "☐", "in_progress": "◐", "completed": "☑"}


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

    def show(self, record: EventRecord) -> None:
        match record.event:
            case TurnFinished(outcome):
                self._output.write(f"{outcome.answer}\n" if outcome.answer else "")
                if outcome.reason != "end_turn":
                    say(ending(outcome))
                if outcome.plan:
                    say(f"the plan: {path_of(outcome.plan)}")
                for it in outcome.diagnostics:
                    say(f"left by this turn: {placed(it)}")
            case Notice(level, message):
                say(f"{level}: {message}")
            case _:
                pass

    def close(self) -> None:
        pass

    def paused(self) -> AbstractContextManager[None]:
        return nullcontext()


class RichRenderer:
    """Markdown as it streams, a line per tool, a spinner, and the usage at the end."""

    def __init__(self) -> None:
        self._console = Console(highlight=False)
        self._text = ""
        self._activity = "thinking"
        self._live = Live(console=self._console, refresh_per_second=12, transient=True)
        self._live.start()

    def show(self, record: EventRecord) -> None:
        match record.event:
            case TextStreamed(text):
                self._text += text
            case ThinkingStreamed():
                self._activity = "thinking"
            case StreamRolledBack():
                self._text = ""
            case MessageFinished(text):
                self._text = ""
                self._live.update(self._screen(), refresh=True)
                if text.strip():
                    self._console.print(Markdown(harmless(text)))
            case ActivityChanged():
                self._activity = record.event.words
            case ToolStarted(description=description):
                self._activity = description
            case ToolFinished(name=name, status=status, description=description):
                line = Line.from_markup(f"{MARKS[status]} [bold]{name}[/] ") + Line(description, style="dim")
                self._console.print(line, no_wrap=True, overflow="ellipsis")
            case TodosChanged(todos):
                for todo in todos:
                    self._console.print(Line(f"  {TODO_MARKS[todo.status]} {todo.content}"))
            case DiagnosticsCompared(introduced=introduced, fixed=fixed, unsure=unsure):
                for it in (*introduced, *unsure):
                    self._console.print(Line(f"  + {placed(it)}", style="red" if it.severity == "error" else "yellow"))
                for it in fixed:
                    self._console.print(Line(f"  - {placed(it)}", style="green"))
            case Notice(level, message):
                self._console.print(Line(f"{level}: {message}", style="yellow"))
            case TurnFinished(outcome):
                self._live.stop()
                if outcome.answer and not outcome.steps:
                    self._console.print(Line(unlinked(outcome.answer)))
                if outcome.reason != "end_turn":
                    self._console.print(Line(ending(outcome), style="red"))
                if outcome.plan:
                    self._console.print(Line(f"the plan: {path_of(outcome.plan)}"))
                for it in outcome.diagnostics:
                    self._console.print(Line(f"left by this turn: {placed(it)}", style="red"))
                self._console.print(Line(spent(outcome.usage, outcome.duration_ms), style="dim"))
                return
            case _:
                return
        if self._live.is_started:
            self._live.update(self._screen())

    def close(self) -> None:
        self._live.stop()

    @contextmanager
    def paused(self) -> Generator[None]:
        self._live.stop()
        try:
            yield
        finally:
            self._live.start()

    def _screen(self) -> RenderableType:
        spinner = Spinner("dots", Line(self._activity, style="dim", no_wrap=True, overflow="ellipsis"))
        tail = "\n".join(self._text.splitlines()[-max(1, self._console.height - SPARE_LINES) :])
        return Group(Markdown(harmless(tail)), spinner) if tail else spinner


def placed(diagnostic: Diagnostic) -> str:
    """Where it is, and in words."""
    return printable(f"{path_of(diagnostic.uri) or diagnostic.uri}:{diagnostic.words}")


def ending(outcome: Outcome) -> str:
    return (
        f"{outcome.reason.replace('_', ' ')}: {outcome.detail}" if outcome.detail else outcome.reason.replace("_", " ")
    )


def spent(usage: Usage, duration_ms: int) -> str:
    tokens = (
        f"{usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens:,} in · {usage.output_tokens:,} out"
    )
    cost = f" · ${usage.cost_usd:.4f}" if usage.cost_usd else ""
    return f"{tokens}{cost} · {duration_ms / 1000:.1f} s"
