"""A conversation: what was said, what was done, what is still to do. Mode, approvals and trust are no part of it."""

import logging
import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from odin_lsp import locks
from odin_lsp.errors import SessionError
from odin_lsp.events import MAIN, Event, TurnFinished
from odin_lsp.messages import Attachment, Message, Text, ToolResult, user
from odin_lsp.records import Outcome, QueuedMessage, Stretch, SubagentRecord, Todo, Usage
from odin_lsp.redaction import without_keys
from odin_lsp.sessions import attachments, loading, reader, titles
from odin_lsp.sessions.cleaning import cleaned_record
from odin_lsp.sessions.helpers import handed_over
from odin_lsp.sessions.history import History, characters, without_thinking
from odin_lsp.sessions.loading import MAX_TURNS
from odin_lsp.sessions.store import SessionLog, open_log
from odin_lsp.sessions.turn_record import TurnRecord
from odin_lsp.values import to_wire

log = logging.getLogger("odin.sessions")
MAX_FINDINGS = 50
GAP = " messages that came between this and the next are not part of this request.\n</reminder>"


class Session:
    def __init__(self, folder: Path, session_id: str | None = None, *, title: str = titles.NEW) -> None:
        self.id = uuid.uuid4().hex if session_id is None else session_id
        self.title = without_keys(title)
        self.titled_by: titles.TitledBy = "nobody" if title == titles.NEW else "user"
        self.created_at = self.updated_at = time.time()
        self.forked_from: str | None = None
        self.history = History()
        self.turns: list[TurnRecord] = []
        self.subagents: dict[str, SubagentRecord] = {}
        self.todos: list[Todo] = []
        self.shown: dict[str, tuple[Stretch, ...]] = {}
        """What the model was shown of files, by their paths, as it was last noted."""
        self.findings: list[str] = []
        """What the model has noted for itself."""
        self.first_message = ""
        self.is_compacted = False
        """The model has had a shorter history than the user."""
        self.earlier_turns = 0
        """Turns of a long session that are on disk only."""
        self.notices: list[str] = []
        """What the user should know of how it was read."""
        self.log = SessionLog(folder, self.id)
        self._announced = False
        self._damaged = 0
        self._spent = Usage()
        self._unsettled: dict[str, Usage] = {}
        """Spent by the helpers of turns that have not ended, by the turns' ids."""
        self._waiting: dict[str, QueuedMessage] = {}
        self._begun: dict[str, QueuedMessage] = {}
        """What the user has said that has had no answer yet, by the turns' ids."""
        self.unbegun: list[QueuedMessage] = []
        """What still waited when Odin was ended, until the conversation goes on."""
        self.suspended: QueuedMessage | None = None
        """What the turn is about that waits for a review, since before Odin was started."""
        self.open_results: tuple[ToolResult, ...] | None = None
        """Since the last message a review has begun: what was known then of the calls that the model had made."""
        self._last_helper = 0
        self.problem: str | None = None
        """Why not all of the session is on disk, if it is not."""

    @classmethod
    def load(cls, folder: Path, session_id: str) -> "Session":
        """The session as its log tells it, whoever writes to it meanwhile."""
        session = cls(folder, session_id)
        with open_log(session.log.path) as file:
            session._read(file, reader.index(file))
        return session

    @classmethod
    def resume(
        cls,
        folder: Path,
        session_id: str,
        is_waiting: Callable[[str], bool] = lambda _: False,
        patience: float = locks.MOMENT,
    ) -> "Session":
        """The same, to go on with it: nobody else does, and what was torn is repaired. A turn that was cut off has
        ended, unless it is one of those that wait for a review."""
        session = cls(folder, session_id)
        try:
            found, repaired = session.log.claim(patience)
            with open_log(session.log.path) as file:
                session._read(file, found)
                session._count_what_was_cut_off(file, found)
        except BaseException:
            session.close()
            raise
        if repaired:
            session.notices.append(repaired)
        if session._damaged:
            lines = "line" if session._damaged == 1 else "lines"
            session.notices.append(f"{session._damaged} damaged {lines} of {session.log.path} were left out")
            session._write({"type": "repaired", "damaged": session._damaged})
        session._end_what_was_cut_off(is_waiting)
        return session

    @property
    def messages(self) -> list[Message]:
        return self.history.messages

    @property
    def usage(self) -> Usage:
        """Of all turns, with their helpers, and of titles."""
        total = self._spent
        for usage in self._unsettled.values():
            total = total.plus(usage.besides)
        return total

    def spent_on(self, turn_id: str) -> Usage:
        """What a turn that has not ended had cost before Odin was started."""
        return self._unsettled.get(turn_id, Usage()).besides

    def append(self, message: Message) -> None:
        self.open_results = None
        self.history.append(message)
        self._write({"type": "message", "id": uuid.uuid4().hex, "message": to_wire(message)})

    def remove_last(self) -> Message | None:
        """Take back the last message; the log notes it."""
        if not self.messages:
            return None
        self._write({"type": "removed", "count": 1})
        last = self.messages[-1]
        self.history.remove_last()
        return last

    def replace(self, messages: list[Message]) -> None:
        """A shorter history; the log keeps the whole one."""
        self.history.replace(messages)
        self.is_compacted = True
        self._write({"type": "history", "messages": [to_wire(message) for message in messages]})

    def clear(self) -> None:
        """Begin anew, under the same name. The log only grows, but what it says of before does not count any more."""
        self._write({"type": "cleared", "spent": to_wire(self._spent)}, flush=True)
        self.history.replace(())
        for known in (self.turns, self.subagents, self.todos, self.shown, self.unbegun, self.findings):
            known.clear()
        self.first_message, self.earlier_turns, self.is_compacted = "", 0, False

    def rename(self, title: str, by: titles.TitledBy = "user", usage: Usage | None = None) -> None:
        self.title = titles.cleaned(without_keys(title)) or titles.NEW
        self.titled_by = by
        spent = {"usage": to_wire(usage)} if usage else {}
        self._spent = self._spent.plus(usage.besides if usage else Usage())
        self._write({"type": "title", "title": self.title, "by": by, **spent}, flush=True)

    def note_waiting(self, message: QueuedMessage, attached: Iterable[Attachment] = ()) -> None:
        """What is said is not lost, whatever becomes of Odin before it is answered."""
        with_it = {"attached": held} if (held := [to_wire(it) for it in attached]) else {}
        self._write({"type": "waiting", "message": to_wire(message), **with_it})

    def note_begun(self, message: QueuedMessage) -> None:
        for old in self.unbegun:
            self.note_dropped(old.turn_id)
        self.unbegun.clear()
        self._write({"type": "begun", "message": to_wire(replace(message, context=(), attached=()))})

    def note_results(self, results: Iterable[ToolResult]) -> None:
        """What is known of the model's last calls while a review goes on."""
        self.open_results = tuple(results)
        self._write({"type": "results", "results": [to_wire(it) for it in self.open_results]})

    def note_event(self, turn_id: str, agent_id: str, event: Event) -> None:
        """What has happened, for whoever shows the conversation later."""
        self._write({"type": "event", "turnId": turn_id, "agentId": agent_id, "event": to_wire(event)})

    def note_shown(self, path: str, stretches: tuple[Stretch, ...]) -> None:
        """What the model has seen of a file by now; nothing: it does not know it any more."""
        self.shown[path] = stretches
        self._write({"type": "shown", "path": path, "stretches": [to_wire(it) for it in stretches]})

    def note_finding(self, text: str) -> None:
        """What the model wants to know later, however much of the history is summarized then."""
        self._take_finding(text)
        self._write({"type": "finding", "text": text})

    def note_dropped(self, turn_id: str) -> None:
        """A message that waited is not wanted any more."""
        self._write({"type": "dropped", "turnId": turn_id})

    def finish_turn(self, body: str, timestamp: float, outcome: Outcome) -> None:
        self._add_turn(reader.value(TurnRecord, cleaned_record(to_wire(TurnRecord.of(body, timestamp, outcome)))))

    def new_agent_id(self, kind: str) -> str:
        """A name for a helper that no other of this session has had."""
        self._last_helper += 1
        return f"{kind}-{self._last_helper}"

    def note_subagent(self, record: SubagentRecord) -> None:
        """A helper has begun, or ended."""
        record = reader.value(SubagentRecord, cleaned_record(to_wire(record)))
        self._take_subagent(record)
        self._write({"type": "subagent", "subagent": to_wire(record)})

    def take_notices(self) -> list[str]:
        """What the user has not been told yet."""
        notices, self.notices = self.notices, []
        return notices

    def close(self) -> None:
        """Let others go on with it."""
        self.log.close()

    def _add_turn(self, record: TurnRecord) -> None:
        kind = "resumed" if self._is_of_last(record) else "turn"
        self._take_turn(record)
        if self.titled_by == "nobody":
            self.title, self.titled_by = titles.from_message(record.body), "message"
        count = self.earlier_turns + len(self.turns)
        about = {"count": count, "title": self.title, "by": self.titled_by, "isCompacted": self.is_compacted}
        spent = to_wire(self._spent)
        self._write({"type": kind, **about, "spent": spent, "turn": to_wire(record)}, flush=True)
        self._make_room()

    def _end_what_was_cut_off(self, is_waiting: Callable[[str], bool]) -> None:
        """What had no answer when Odin was ended gets none, but it was said: that is told."""
        waiting = (it for it in self._begun.values() if self.open_results is not None and is_waiting(it.turn_id))
        self.suspended = next(waiting, None)
        if self.suspended is None:
            self._hand_over()
        for message in [it for it in self._begun.values() if it is not self.suspended]:
            self.end_cut_off(message)
        self.unbegun = list(self._waiting.values())
        for message in self.unbegun:
            said = titles.from_message(message.body)
            self.notices.append(
                f"Odin stopped before it could work on this message. Send it again if you still need it: {said}"
            )

    def _count_what_was_cut_off(self, file: BinaryIO, found: reader.Index) -> None:
        for turn_id in self._begun:
            if (spent := loading.spent(file, found, turn_id)) is not None:
                self._unsettled[turn_id] = spent

    def end_cut_off(self, message: QueuedMessage) -> Outcome:
        record = TurnRecord.cut_off(message, self.todos, self.spent_on(message.turn_id))
        self._add_turn(record)
        outcome = record.outcome(self.id)
        self.note_event(record.turn_id, MAIN, TurnFinished(outcome))
        return outcome

    def _hand_over(self) -> None:
        """What helpers had found when Odin was ended in the middle of their turn is not lost."""
        cut_off = self._begun.keys() | self._unsettled.keys()
        for message in [*handed_over(self.messages, [it for it in self.subagents.values() if it.turn_id in cut_off])]:
            self.append(message)

    def _write(self, record: dict[str, object], *, flush: bool = False) -> None:
        """A disk that fails costs the log, not the conversation; when it works again, all of it is written. Keys never
        are: the model has what the user has typed as long as the conversation is in memory."""
        self.updated_at = time.time()
        try:
            if not self._announced:
                self._announced = True
                opening = {"type": "session", "id": self.id, "title": self.title, "at": self.created_at}
                self.log.append(opening, flush=False)
            self.log.append({**cleaned_record(record), "at": self.updated_at}, flush=flush)
            self.problem = None
        except SessionError as error:
            if self.problem is None:
                log.info("%s", error)  # whoever has the session tells the user
            self.problem = str(error)

    def _read(self, file: BinaryIO, found: reader.Index) -> None:
        if not found.lines:
            raise SessionError(f"nothing of session {self.id!r} can be read")
        self.log.known_end = found.end + found.lacks_newline
        self._announced = True
        read = loading.excerpt(file, found)
        self.is_compacted = read.is_compacted
        self.first_message, self.earlier_turns = read.first_message, read.earlier_turns
        wanted = attachments.newest(self.log.path, file, read.lines)
        for line in read.lines:
            self._replay_line(file, line, wanted)
        self.todos = loading.todos(file, found, self.todos)
        if read.earlier_messages:
            self._mark_gap(read.opening, read.earlier_messages, self.messages)

    def _replay_line(self, file: BinaryIO, line: reader.Line, wanted: frozenset[str]) -> None:
        understood = [self._replay(attachments.filled(self.log.path, it, wanted)) for it in reader.read(file, line)]
        self._damaged += line.size > 1 and not (understood and all(understood))

    def _replay(self, record: reader.Record) -> bool:
        """Whether it was understood; a kind that is not known is none of ours, and no damage."""
        try:
            match record["type"]:
                case "session":
                    self.created_at = reader.number(record.get("at"), self.created_at)
                    self._take_title(record)
                    forked_from = record.get("forkedFrom")
                    self.forked_from = forked_from if isinstance(forked_from, str) else None
                case "results":
                    self.open_results = tuple(reader.value(ToolResult, it) for it in record["results"])
                case "message":
                    self.open_results = None
                    self.history.append(without_thinking(reader.message(record.get("message"))))
                case "removed":
                    self.history.remove_last(max(0, int(reader.number(record.get("count"), 0))))
                case "history":
                    self.history.replace([without_thinking(reader.message(it)) for it in record["messages"]])
                case "waiting":
                    message = reader.value(QueuedMessage, record.get("message"))
                    self._waiting[message.turn_id] = message
                case "begun":
                    message = reader.value(QueuedMessage, record.get("message"))
                    self._waiting.pop(message.turn_id, None)
                    self._begun[message.turn_id] = message
                case "dropped":
                    self._waiting.pop(str(record.get("turnId")), None)
                case "turn" | "resumed":
                    self._take_turn(reader.value(TurnRecord, record.get("turn")))
                    self.todos = list(self.turns[-1].todos)
                    self._take_title(record)
                    if "spent" in record:
                        self._spent = reader.value(Usage, record["spent"])
                case "subagent":
                    self._take_subagent(reader.value(SubagentRecord, record.get("subagent")))
                case "title":
                    self._take_title(record)
                    if "usage" in record:
                        self._spent = self._spent.plus(reader.value(Usage, record["usage"]).besides)
                case "shown":
                    self.shown[str(record["path"])] = tuple(reader.value(Stretch, it) for it in record["stretches"])
                case "cleared":
                    self._spent = reader.value(Usage, record["spent"])
                case "finding":
                    self._take_finding(str(record["text"]))
                case "repaired":
                    self._damaged = 0
                case _:
                    pass
        except (SessionError, KeyError, TypeError):
            return False
        self.updated_at = reader.number(record.get("at"), self.updated_at)
        return True

    def _take_title(self, record: reader.Record) -> None:
        title, by = record.get("title"), record.get("by")
        if isinstance(title, str) and title.strip():
            self.title = titles.cleaned(title)
            self.titled_by = titles.titled_by(by, title)

    def _take_turn(self, record: TurnRecord) -> None:
        self.first_message = self.first_message or record.body
        self._waiting.pop(record.turn_id, None)
        self._begun.pop(record.turn_id, None)
        if self._is_of_last(record):
            self.turns[-1] = record.after(self.turns[-1])
        else:
            self.turns.append(record)
        if len(self.turns) > MAX_TURNS:
            del self.turns[0]
            self.earlier_turns += 1
        self._unsettled.pop(record.turn_id, None)
        self._spent = self.usage.plus(record.usage)
        self._unsettled.clear()

    def _take_finding(self, text: str) -> None:
        self.findings = [*(it for it in self.findings if it != text), text][-MAX_FINDINGS:]

    def _is_of_last(self, record: TurnRecord) -> bool:
        """Whether it tells how the last turn went on."""
        return bool(self.turns) and self.turns[-1].turn_id == record.turn_id

    def _take_subagent(self, record: SubagentRecord) -> None:
        self.subagents[record.agent_id] = record
        if len(self.subagents) > MAX_TURNS:
            del self.subagents[next(iter(self.subagents))]
        number = record.agent_id.rpartition("-")[2]
        if number.isdecimal():
            self._last_helper = max(self._last_helper, int(number[:9]))
        if record.status != "running":
            spent = self._unsettled.get(record.turn_id, Usage())
            self._unsettled[record.turn_id] = spent.plus(record.usage)

    def _make_room(self) -> None:
        """What no model has asked to be made shorter must not fill the memory either; the log keeps all of it."""
        if first := loading.first_kept([characters(message) for message in self.messages]):
            asked = [it.text for it in self.messages[0].parts if isinstance(it, Text) and not it.text.endswith(GAP)]
            self._mark_gap(asked, first, self.messages[first:])

    def _mark_gap(self, opening: Sequence[str], count: int, rest: Sequence[Message]) -> None:
        """Begin with what the user first asked for, and go on with a whole turn."""
        turn = next((at for at, it in enumerate(rest) if it.role == "user" and not it.results), len(rest))
        count += turn
        self.history.replace([user(*opening, f"<reminder>\n{count}{GAP}"), *rest[turn:]])
        self.notices.append(f"this session is long: {count} of its messages are not sent to the model any more")
