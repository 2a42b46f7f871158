"""What has happened in a stored session, event by event, as those saw it who were there."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, BinaryIO

from pydantic import Discriminator, TypeAdapter, ValidationError

from odin_lsp import system
from odin_lsp.errors import SessionError
from odin_lsp.events import (
    MAIN,
    Event,
    EventRecord,
    MessageFinished,
    SubagentFinished,
    SubagentStarted,
    TodosChanged,
    ToolFinished,
    TurnFinished,
    TurnStarted,
)
from odin_lsp.records import SubagentRecord, ToolRecord
from odin_lsp.sessions import reader
from odin_lsp.sessions.reader import Line, Record
from odin_lsp.sessions.store import log_path, open_log
from odin_lsp.sessions.turn_record import TurnRecord
from odin_lsp.values import Value, is_object

MAX_EVENTS = 2000
"""Of a page, roughly: it begins where a turn does."""
MAX_PAGE = 8 * 1024 * 1024
"""Bytes of the log."""
_TURN = re.compile(rb'\{"v":\d{1,9},"type":"event","turnId":"([^"\\]*)"')
_LONGEST_START = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class EventPage(Value):
    """The last events of a session, or those before them."""

    events: tuple[EventRecord, ...]
    earlier_turns: int
    """Messages of the user that came before these."""
    before: int | None = None
    """What to ask for to get the page before this one; none: this is the first."""
    seq: int = 0
    """Events that were sent to this client with this number, or a lower one, are in it."""


def page(folder: Path, session_id: str, before: int | None, limit: int, end: int | None = None) -> EventPage:
    """`end`: where the log ends, for whoever writes to it meanwhile."""
    before = end if before is None else before
    with open_log(log_path(folder, session_id)) as file:
        told = _Told.of(file, session_id)
        stop = len(told.lines) if before is None else sum(it.offset < before for it in told.lines)
        start = told.beginning(stop, max(1, min(limit, MAX_EVENTS)))
        return EventPage(
            events=tuple(told.events(told.lines[start:stop])),
            earlier_turns=len(set(filter(None, told.turn_ids[:start])) - set(told.turn_ids[start : start + 1])),
            before=told.lines[start].offset if 0 < start < stop else None,
        )


def turns(folder: Path, session_id: str, last: int | None = None) -> Iterator[list[EventRecord]]:
    """All events of each turn, or of each of the last ones, in the order in which the turns began."""
    with open_log(log_path(folder, session_id)) as file:
        told = _Told.of(file, session_id)
        of_turn: dict[str, list[Line]] = {}
        for turn_id, line in zip(told.turn_ids, told.lines, strict=True):
            if turn_id:
                of_turn.setdefault(turn_id, []).append(line)
        for lines in list(of_turn.values())[-last if last is not None else 0 :]:
            yield list(told.events(lines))


def turn(folder: Path, session_id: str, turn_id: str) -> list[EventRecord]:
    """All events of that turn; none if the session does not have it."""
    with open_log(log_path(folder, session_id)) as file:
        told = _Told.of(file, session_id)
        lines = [line for of, line in zip(told.turn_ids, told.lines, strict=True) if of == turn_id]
        return list(told.events(lines))


@dataclass(frozen=True, slots=True)
class _Told:
    """The lines of a log that tell what happened. Earlier versions have kept how turns ended, and nothing else."""

    file: BinaryIO
    session_id: str
    lines: Sequence[Line]
    turn_ids: Sequence[str]
    """Whose each line is; empty for what belongs to no turn."""

    @classmethod
    def of(cls, file: BinaryIO, session_id: str) -> "_Told":
        known = reader.index(file).of("event", "turn", "resumed", "subagent")
        of_events = {line: _turn_of(file, line) for line in known if line.kind == "event"}
        seen = set(of_events.values())
        found = {line: of_events[line] if line.kind == "event" else _ended_turn(file, line) for line in known}
        found = {line: it for line, it in found.items() if line.kind == "event" or (it and it not in seen)}
        return cls(file, session_id, list(found), list(found.values()))

    def beginning(self, end: int, count: int) -> int:
        """Where a page begins that has as many lines, or those more that its first turn needs."""
        start = max(0, end - count)
        while start and end - start < MAX_EVENTS and self.turn_ids[start - 1] == self.turn_ids[start]:
            start -= 1
        size = 0
        for index in range(end - 1, start - 1, -1):
            size += self.lines[index].size
            if size > MAX_PAGE and index < end - 1:
                return index + 1
        return start

    def events(self, lines: Sequence[Line]) -> Iterator[EventRecord]:
        for line in lines:
            for record in reader.read(self.file, line):
                for number, (turn_id, agent_id, at, event) in enumerate(_events(record, self.session_id)):
                    yield EventRecord(line.offset + number, turn_id, self.session_id, agent_id, event, at)


def _turn_of(file: BinaryIO, line: Line) -> str:
    start = system.pread(file.fileno(), min(line.size, _LONGEST_START), line.offset)
    if match := _TURN.match(start):
        return match[1].decode("utf-8", "replace")
    return next((str(it.get("turnId", "")) for it in reader.read(file, line)), "")


def _ended_turn(file: BinaryIO, line: Line) -> str:
    """The turn that a record of an earlier version is about."""
    for record in reader.read(file, line):
        about = record.get("turn") or record.get("subagent")
        if is_object(about):
            return str(about.get("turnId", ""))
    return ""


def _events(record: Record, session_id: str) -> Iterator[tuple[str, str, float, Event]]:
    """What cannot be read is left out."""
    at = reader.number(record.get("at"), 0)
    try:
        match record["type"]:
            case "event":
                event = _adapter().validate_python(record.get("event"), extra="ignore")
                yield str(record["turnId"]), str(record["agentId"]), at, event
            case "turn" | "resumed":
                turn = reader.value(TurnRecord, record.get("turn"))
                yield from ((turn.turn_id, MAIN, turn.timestamp, it) for it in _of_turn(turn, session_id))
            case "subagent":
                helper = reader.value(SubagentRecord, record.get("subagent"))
                yield helper.turn_id, MAIN, at, _of_helper(helper)
            case _:
                pass
    except (SessionError, ValidationError, KeyError):
        return


def _of_turn(turn: TurnRecord, session_id: str) -> Iterator[Event]:
    """What it did, as far as its record tells."""
    yield TurnStarted(turn.mode, "", turn.body)
    for number, tool in enumerate(turn.tool_history):
        yield _finished(f"{turn.turn_id}/{number}", tool)
    if turn.todos:
        yield TodosChanged(turn.todos)
    if turn.answer_summary:
        yield MessageFinished(turn.answer_summary, 0)
    yield TurnFinished(turn.outcome(session_id))


def _finished(call_id: str, tool: ToolRecord) -> ToolFinished:
    return ToolFinished(
        call_id=call_id,
        name=tool.name,
        status=tool.status,
        description=tool.description,
        files=tool.affected_files,
        added=tool.added,
        removed=tool.removed,
        created=tool.created,
        ran=tool.ran,
    )


def _of_helper(helper: SubagentRecord) -> Event:
    if helper.status == "running":
        return SubagentStarted(helper.agent_id, helper.description, helper.mode)
    return SubagentFinished(helper.agent_id, helper.status, helper.summary)


@cache
def _adapter() -> TypeAdapter[Event]:
    return TypeAdapter(Annotated[Event, Discriminator("kind")])
