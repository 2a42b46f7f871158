"""What is kept of a turn: what was asked for, how it ended, and what became of what it proposed."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from odin_lsp.modes import Mode
from odin_lsp.ports import Receipt
from odin_lsp.records import ExitReason, Outcome, QueuedMessage, Todo, ToolRecord, Usage
from odin_lsp.values import Value


@dataclass(frozen=True, slots=True)
class ReviewedFile(Value):
    """How many hunks are in the file now, as they were proposed or as the user wanted them, and how many are not."""

    uri: str
    accepted: int
    rejected: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRecord(Value):
    """One message of the user and what came of it."""

    turn_id: str
    body: str
    mode: Mode
    timestamp: float
    answer_summary: str
    reason: ExitReason
    todos: tuple[Todo, ...]
    tool_history: tuple[ToolRecord, ...]
    usage: Usage
    reviewed: tuple[ReviewedFile, ...] = ()

    @classmethod
    def of(cls, body: str, timestamp: float, outcome: Outcome) -> "TurnRecord":
        return cls(
            turn_id=outcome.turn_id,
            body=body,
            mode=outcome.mode,
            timestamp=timestamp,
            answer_summary=outcome.answer,
            reason=outcome.reason,
            todos=outcome.todos,
            tool_history=outcome.tools,
            usage=outcome.usage,
            reviewed=_reviewed(outcome.receipts),
        )

    def after(self, before: "TurnRecord") -> "TurnRecord":
        """The same turn, which was cut off before and has gone on."""
        return replace(
            self,
            tool_history=(*before.tool_history, *self.tool_history),
            usage=before.usage.plus(self.usage),
            reviewed=(*before.reviewed, *self.reviewed),
        )

    @classmethod
    def cut_off(cls, message: QueuedMessage, todos: Iterable[Todo], usage: Usage) -> "TurnRecord":
        """Of a turn that Odin was ended in."""
        return cls(
            turn_id=message.turn_id,
            body=message.body,
            mode=message.mode,
            timestamp=message.timestamp,
            answer_summary="",
            reason="aborted",
            todos=tuple(todos),
            tool_history=(),
            usage=usage,
        )

    def outcome(self, session_id: str) -> Outcome:
        """As far as it is known."""
        return Outcome(
            turn_id=self.turn_id,
            session_id=session_id,
            mode=self.mode,
            reason=self.reason,
            answer=self.answer_summary,
            todos=self.todos,
            tools=self.tool_history,
            usage=self.usage,
        )


def _reviewed(receipts: Iterable[Receipt]) -> tuple[ReviewedFile, ...]:
    """What still waits is in neither."""
    decided = Counter((it.uri, it.state in ("accepted", "modified")) for it in receipts if it.state != "pending")
    uris = dict.fromkeys(uri for uri, _ in decided)
    return tuple(ReviewedFile(uri, decided[uri, True], decided[uri, False]) for uri in uris)
