"""A conversation: what was said, what was done, what is still to do."""

import logging
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from odin_lsp.errors import RequestError, SessionError
from odin_lsp.events import ExitReason, Mode, Outcome, Todo, ToolRecord, Usage
from odin_lsp.messages import Message
from odin_lsp.sessions.store import SessionLog
from odin_lsp.values import Value, from_wire, to_wire

log = logging.getLogger("odin.sessions")


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


class Session:
    def __init__(self, folder: Path, session_id: str | None = None, *, title: str = "New Session") -> None:
        self.id = session_id or uuid.uuid4().hex
        self.title = title
        self.created_at = self.updated_at = time.time()
        self.messages: list[Message] = []
        self.turns: list[TurnRecord] = []
        self.todos: list[Todo] = []
        self.log = SessionLog(folder, self.id)
        self._announced = False
        self.problem: str | None = None
        """Why the session is no longer written to disk, if it is not."""

    @classmethod
    def load(cls, folder: Path, session_id: str) -> "Session":
        """The session as its log tells it."""
        session = cls(folder, session_id)
        records = session.log.records()
        if not records:
            raise SessionError(f"there is no session {session_id!r} in this workspace")
        session._announced = True
        for record in records:
            session._replay(record)
        return session

    @property
    def usage(self) -> Usage:
        total = Usage()
        for turn in self.turns:
            total = total.plus(turn.usage)
        return total

    def append(self, message: Message) -> None:
        self.messages.append(message)
        self._write({"type": "message", "id": uuid.uuid4().hex, "message": to_wire(message)})

    def remove_last(self) -> Message | None:
        """Take back the last message; the log notes it."""
        if not self.messages:
            return None
        self._write({"type": "removed", "count": 1})
        return self.messages.pop()

    def replace(self, messages: list[Message]) -> None:
        """A shorter history; the log keeps the whole one."""
        self.messages = messages
        self._write({"type": "history", "messages": [to_wire(message) for message in messages]})

    def finish_turn(self, body: str, timestamp: float, outcome: Outcome) -> None:
        record = TurnRecord(
            turn_id=outcome.turn_id,
            body=body,
            mode=outcome.mode,
            timestamp=timestamp,
            answer_summary=outcome.answer,
            reason=outcome.reason,
            todos=outcome.todos,
            tool_history=outcome.tools,
            usage=outcome.usage,
        )
        self.turns.append(record)
        self._write({"type": "turn", "turn": to_wire(record)}, flush=True)

    def _replay(self, record: Mapping[str, Any]) -> None:
        try:
            match record.get("type"):
                case "session":
                    self.title, self.created_at = record["title"], record["createdAt"]
                case "message":
                    self.messages.append(from_wire(Message, record["message"]))
                case "removed":
                    del self.messages[len(self.messages) - record["count"] :]
                case "history":
                    self.messages = [from_wire(Message, message) for message in record["messages"]]
                case "turn":
                    self.turns.append(from_wire(TurnRecord, record["turn"]))
                    self.todos = list(self.turns[-1].todos)
                case _:
                    return
        except (RequestError, KeyError, TypeError) as error:
            log.warning("a record of session %s was left out: %s", self.id, error)

    def _write(self, record: dict[str, object], *, flush: bool = False) -> None:
        """A disk that fails costs the log, not the conversation."""
        self.updated_at = time.time()
        if self.problem:
            return
        try:
            if not self._announced:
                self._announced = True
                self.log.append({"type": "session", "id": self.id, "title": self.title, "createdAt": self.created_at})
            self.log.append({"at": self.updated_at, **record}, flush=flush)
        except SessionError as error:
            self.problem = str(error)
            log.warning("%s", error)
