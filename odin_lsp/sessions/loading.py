"""Which lines of a log are read: of a long one the last, from a shorter history on or as many as a model could be
sent."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import BinaryIO

from odin_lsp.errors import SessionError
from odin_lsp.events import MAIN
from odin_lsp.records import Todo, Usage
from odin_lsp.sessions import reader
from odin_lsp.sessions.reader import Line
from odin_lsp.values import is_list, is_object

MAX_LOADED = 16 * 1024 * 1024
"""Bytes of messages, and as many of turns, that are read of a long log; several times what fits into any model."""
MAX_LINES = 4000
"""The same in lines."""
MAX_TURNS = 100
"""Turns in memory, and as many helpers; all of them are on disk."""
HISTORY = ("message", "removed", "history", None)
"""Kinds of lines that make up the messages; `None`: a line that has to be read to be known."""
UNANSWERED = ("waiting", "begun", "dropped")
"""Kinds of lines that tell which messages have had no answer yet."""
COUNTED = (*HISTORY, *UNANSWERED, "turn", "subagent", "event", "shown")
"""Kinds of lines of which there may be too many."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The lines to read, and what has to be known of those that are not."""

    lines: Sequence[Line]
    """With those that nobody can read, since they are damage."""
    is_compacted: bool
    """It begins with a shorter history that was made for the model."""
    opening: Sequence[str]
    """What the user first asked for, if the message is not among the lines."""
    earlier_messages: int
    first_message: str
    """The same, if the turn is not among the lines."""
    earlier_turns: int


def excerpt(file: BinaryIO, found: reader.Index) -> Excerpt:
    shorter = [line for line in found.of("history") if _is_history(file, line)][-1:]
    messages = _last([line for line in found.lines if line.kind in HISTORY], *shorter)
    turns = _last(found.of("turn"), most=MAX_TURNS)
    helpers = _last(found.of("subagent"), most=2 * MAX_TURNS)
    shown = _last(found.of("shown"))
    since = turns.lines[0].offset if turns.earlier else 0
    unanswered = _last([line for line in found.of(*UNANSWERED) if line.offset >= since])
    chosen = {line.offset for part in (messages, turns, helpers, shown, unanswered) for line in part.lines}
    return Excerpt(
        [it for it in found.lines if it.offset in chosen or it.kind not in COUNTED or it.size > reader.MAX_RECORD],
        is_compacted=bool(shorter),
        opening=_opening(file, found.of("message", "history")[0]) if messages.earlier else (),
        earlier_messages=messages.earlier,
        first_message=_body(file, found.of("turn")[0]) if turns.earlier else "",
        earlier_turns=turns.earlier,
    )


def first_kept(sizes: Sequence[int]) -> int:
    """The first of the messages of these sizes that stays in memory: half of what may, so that it is not soon again."""
    if len(sizes) <= MAX_LINES and sum(sizes) <= MAX_LOADED:
        return 0
    first, room = len(sizes), MAX_LOADED // 2
    while first > 0 and len(sizes) - first < MAX_LINES // 2 and room >= sizes[first - 1]:
        first -= 1
        room -= sizes[first]
    return first


def spent(file: BinaryIO, found: reader.Index, turn_id: str) -> Usage | None:
    """What a turn had cost that has not ended: as it was told after its last step, and what helpers have cost since.
    `None` if no step of it is known."""
    since = Usage()
    for line in reversed(found.of("event", "subagent", "begun")):
        for record in reader.read(file, line):
            match record:
                case {"type": "begun", "message": {"turnId": begun}} if begun == turn_id:
                    return None
                case {"type": "event", "turnId": turn, "agentId": agent, "event": {"kind": "usageChanged"} as event}:
                    if (turn, agent) == (turn_id, MAIN):
                        return reader.value(Usage, event.get("usage")).plus(since.besides)
                case {"type": "subagent", "subagent": {"turnId": turn, "status": status, "usage": usage}}:
                    if turn == turn_id and status != "running":
                        since = since.plus(reader.value(Usage, usage))
                case _:
                    pass
    return None


def todos(file: BinaryIO, found: reader.Index, at_last_turn: list[Todo]) -> list[Todo]:
    """As they were last told: a turn that has not ended may have changed them."""
    for line in reversed(found.of("event", "turn", "resumed")):
        for record in reversed(reader.read(file, line)):
            match record:
                case {"type": "event", "agentId": agent, "event": {"kind": "todosChanged", "todos": told}}:
                    with suppress(SessionError):
                        if agent == MAIN and is_list(told):
                            return [reader.value(Todo, it) for it in told]
                case {"type": "turn" | "resumed"}:
                    return at_last_turn
                case _:
                    pass
    return at_last_turn


@dataclass(frozen=True, slots=True)
class _Last:
    lines: Sequence[Line]
    earlier: int
    """How many there are before them."""


def _last(lines: Sequence[Line], start: Line | None = None, *, most: int = MAX_LINES) -> _Last:
    """Those that are not too much to load. What comes before `start` does not count any more."""
    last: list[Line] = []
    loaded = 0
    for index in range(len(lines) - 1, -1, -1):
        line = lines[index]
        if line.size > reader.MAX_RECORD:
            continue
        loaded += line.size
        if loaded > MAX_LOADED or len(last) == most:
            return _Last(last[::-1], index + 1)
        last.append(line)
        if line is start:
            break
    return _Last(last[::-1], 0)


def _is_history(file: BinaryIO, line: Line) -> bool:
    """If it is damaged, what it was to replace is better than nothing."""
    return any(record["type"] == "history" and is_list(record.get("messages")) for record in reader.read(file, line))


def _opening(file: BinaryIO, line: Line) -> list[str]:
    messages = [record["message"] for record in reader.read(file, line) if "message" in record]
    return [reader.message(it).text for it in messages[:1]]


def _body(file: BinaryIO, line: Line) -> str:
    """What the user said in a turn; nothing if that is damaged."""
    turns = [it.get("turn") for it in reader.read(file, line)]
    return next((it["body"] for it in turns if is_object(it) and isinstance(it.get("body"), str)), "")
