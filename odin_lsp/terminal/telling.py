"""What a turn looks like on a terminal: what has settled, to be printed once, and what is under way below it."""

from collections.abc import Iterator

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
from odin_lsp.records import Outcome
from odin_lsp.terminal.drawing import Activity, Drawn, line, lines, markdown, row, stacked
from odin_lsp.terminal.endings import ending, placed, spent
from odin_lsp.workspace.uris import path_of

MARKS = {"success": ("✓", "green"), "error": ("✗", "red"), "cancelled": ("–", "yellow")}
TODO_MARKS = {"pending": "☐", "in_progress": "◐", "completed": "☑"}
SPARE_LINES = 8
"""What streams must fit onto the screen together with the spinner; more could not be erased again."""
TAIL = 8
"""Lines of what a command has printed."""
LONG_MS = 1000
"""Who thinks for less has hardly been waited for."""
MAX_HELD = 10_000
"""Characters of it that are held while it runs."""
BY_USER = "user-"
"""So begin the ids of calls that are the user's `!command`: all of what it printed is the answer."""


class Telling:
    def __init__(self) -> None:
        self.activity = "thinking"
        self._activity = Activity()
        self._text = ""
        self._printed = ""
        self._is_command = False
        """The turn is the user's own `!command`."""

    def settled(self, record: EventRecord) -> Iterator[Drawn]:
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
            case MessageFinished(text, thinking_ms=thinking_ms):
                self._text = ""
                if thinking_ms >= LONG_MS:
                    yield line(f"thought for {thinking_ms / 1000:.0f} s", "dim")
                if text.strip():
                    yield markdown(text)
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
                yield from (line(f"  {TODO_MARKS[it.status]} {it.content}") for it in todos)
            case DiagnosticsCompared(introduced=introduced, fixed=fixed, unsure=unsure):
                for it in (*introduced, *unsure):
                    yield line(f"  + {placed(it)}", "red" if it.severity == "error" else "yellow")
                yield from (line(f"  - {placed(it)}", "green") for it in fixed)
            case Notice(level, message):
                yield lines(f"{level}: {message}", "yellow")
            case UserSpoke():
                yield line("the model has your message", "dim")
            case Compacted("succeeded", before, after):
                yield line(f"compacted: {before:,} → {after:,} tokens", "dim")
            case BackgroundFinished(command=command, message=message):
                yield line(f"background: {command}: {message}", "dim")
            case TurnFinished(outcome):
                self._text = self._printed = ""
                if outcome.answer and not outcome.steps:
                    yield (lines if self._is_command else markdown)(outcome.answer)
                yield from _end(outcome)
            case _:
                pass

    def under_way(self, height: int) -> Drawn:
        """What may be drawn over: the end of what streams, and what Odin does."""
        last = self._text.splitlines()[-max(1, height - SPARE_LINES) :]
        text = [markdown("\n".join(last))] if last else []
        return stacked(*text, *_tail(self._printed), self._activity.drawn(self.activity))


def _tool(event: ToolFinished) -> Iterator[Drawn]:
    mark, style = MARKS[event.status]
    yield row((f"{mark} ", style), (event.name, "bold"), (f" {event.description}", "dim"))
    if not event.call_id.startswith(BY_USER):
        yield from _tail(event.output)


def _tail(printed: str) -> Iterator[Drawn]:
    all_lines = printed.rstrip().splitlines()
    folded = len(all_lines) - TAIL
    if folded > 0:
        yield line(f"  … {folded} line{'' if folded == 1 else 's'} above", "dim")
    yield from (row((f"  {it}", "dim")) for it in all_lines[max(0, folded) :])


def _end(outcome: Outcome) -> Iterator[Drawn]:
    if outcome.reason != "end_turn":
        yield lines(ending(outcome), "red")
    if outcome.plan:
        plan = path_of(outcome.plan)
        yield line(f"the plan: {plan}")
        yield line(f"carry it out: odin-lsp run {plan}")
    yield from (line(f"left by this turn: {placed(it)}", "red") for it in outcome.diagnostics)
    if outcome.steps or outcome.reason != "end_turn":
        yield line(spent(outcome.usage, outcome.duration_ms), "dim")
