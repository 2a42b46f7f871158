"""What a turn looks like on a terminal: what has settled, to be printed once, and what is under way below it."""

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.markdown import Markdown
from rich.spinner import Spinner
from rich.text import Text as Line

from odin_lsp.events import (
    MAIN,
    ActivityChanged,
    BackgroundFinished,
    Compacted,
    DiagnosticsCompared,
    EventRecord,
    MessageFinished,
    Notice,
    StreamRolledBack,
    TextStreamed,
    ThinkingStreamed,
    TodosChanged,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    TurnFinished,
    TurnStarted,
    UserSpoke,
)
from odin_lsp.markdown import harmless, unlinked
from odin_lsp.records import Diagnostic, Outcome, Usage
from odin_lsp.workspace.uris import path_of, printable

MARKS = {"success": ("✓", "green"), "error": ("✗", "red"), "cancelled": ("–", "yellow")}
TODO_MARKS = {"pending": "☐", "in_progress": "◐", "completed": "☑"}
SPARE_LINES = 8
"""What streams must fit onto the screen together with the spinner; more could not be erased again."""
TAIL = 8
"""Lines of what a command has printed."""
MAX_HELD = 10_000
"""Characters of it that are held while it runs."""
BY_USER = "user-"
"""So begin the ids of calls that are the user's `!command`: all of what it printed is the answer."""


class Telling:
    def __init__(self) -> None:
        self.activity = "thinking"
        self._spinner = Spinner("dots")
        self._text = ""
        self._printed = ""
        self._is_command = False
        """The turn is the user's own `!command`."""

    def settled(self, record: EventRecord) -> Iterator[RenderableType]:
        """What is to be printed of it for good. Of a helper only what it does: what it says is for the model."""
        if record.agent_id != MAIN and not isinstance(record.event, ToolStarted | ToolFinished | Notice):
            return
        match record.event:
            case TurnStarted():
                self._text, self.activity, self._is_command = "", "thinking", False
            case TextStreamed(text):
                self._text += text
            case ThinkingStreamed():
                self.activity = "thinking"
            case StreamRolledBack():
                self._text = ""
            case MessageFinished(text):
                self._text = ""
                if text.strip():
                    yield _markdown(text)
            case ActivityChanged():
                self.activity = record.event.words
            case ToolStarted(description=description):
                self._printed, self.activity = "", description
            case ToolProgress(text=text):
                self._printed = (self._printed + text)[-MAX_HELD:]
            case ToolFinished(call_id=call_id):
                self._printed, self._is_command = "", call_id.startswith(BY_USER)
                yield from _tool(record.event)
            case TodosChanged(todos):
                yield from (Line(f"  {TODO_MARKS[it.status]} {printable(it.content)}") for it in todos)
            case DiagnosticsCompared(introduced=introduced, fixed=fixed, unsure=unsure):
                for it in (*introduced, *unsure):
                    yield Line(f"  + {placed(it)}", style="red" if it.severity == "error" else "yellow")
                yield from (Line(f"  - {placed(it)}", style="green") for it in fixed)
            case Notice(level, message):
                yield Line(f"{level}: {unlinked(message)}", style="yellow")
            case UserSpoke():
                yield Line("the model has your message", style="dim")
            case Compacted("succeeded", before, after):
                yield Line(f"compacted: {before:,} → {after:,} tokens", style="dim")
            case BackgroundFinished(command=command, message=message):
                yield Line(printable(f"background: {command}: {message}"), style="dim")
            case TurnFinished(outcome):
                self._text = self._printed = ""
                if outcome.answer and not outcome.steps:
                    yield Line(unlinked(outcome.answer)) if self._is_command else _markdown(outcome.answer)
                yield from _end(outcome)
            case _:
                pass

    def under_way(self, height: int) -> RenderableType:
        """What may be drawn over: the end of what streams, and what Odin does."""
        self._spinner.update(text=Line(self.activity, style="dim", no_wrap=True, overflow="ellipsis"))
        lines = self._text.splitlines()[-max(1, height - SPARE_LINES) :]
        text = [_markdown("\n".join(lines))] if lines else []
        return Group(*text, *_tail(self._printed), self._spinner)


def placed(diagnostic: Diagnostic) -> str:
    """Where it is, and in words."""
    return printable(f"{path_of(diagnostic.uri) or diagnostic.uri}:{diagnostic.words}")


def ending(outcome: Outcome) -> str:
    reason = outcome.reason.replace("_", " ")
    return f"{reason}: {outcome.detail}" if outcome.detail else reason


def spent(usage: Usage, duration_ms: int) -> str:
    tokens = (
        f"{usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens:,} in · {usage.output_tokens:,} out"
    )
    cost = f" · ${usage.cost_usd:.4f}" if usage.cost_usd else ""
    return f"{tokens}{cost} · {duration_ms / 1000:.1f} s"


def _markdown(text: str) -> Markdown:
    return Markdown(harmless(text), hyperlinks=False)


def _tool(event: ToolFinished) -> Iterator[RenderableType]:
    mark, style = MARKS[event.status]
    line = Line(no_wrap=True, overflow="ellipsis")
    yield (
        line.append(f"{mark} ", style=style)
        .append(event.name, style="bold")
        .append(f" {printable(event.description)}", style="dim")
    )
    if not event.call_id.startswith(BY_USER):
        yield from _tail(event.output)


def _tail(printed: str) -> Iterator[RenderableType]:
    lines = printed.rstrip().splitlines()
    folded = len(lines) - TAIL
    if folded > 0:
        yield Line(f"  … {folded} line{'' if folded == 1 else 's'} above", style="dim")
    yield from (
        Line(f"  {printable(it)}", style="dim", no_wrap=True, overflow="ellipsis") for it in lines[max(0, folded) :]
    )


def _end(outcome: Outcome) -> Iterator[RenderableType]:
    if outcome.reason != "end_turn":
        yield Line(unlinked(ending(outcome)), style="red")
    if outcome.plan:
        plan = path_of(outcome.plan)
        yield Line(f"the plan: {plan}\ncarry it out: odin-lsp run {plan}")
    yield from (Line(f"left by this turn: {placed(it)}", style="red") for it in outcome.diagnostics)
    if outcome.steps or outcome.reason != "end_turn":
        yield Line(spent(outcome.usage, outcome.duration_ms), style="dim")
