"""A turn as it is told to people: its events, folded into what they come to. What passes changes nothing in it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from odin_lsp.events import (
    BackgroundFinished,
    Compacted,
    DiagnosticsCompared,
    Event,
    EventRecord,
    MessageFinished,
    ModelChanged,
    Notice,
    QuestionAnswered,
    QuestionAsked,
    ReviewChanged,
    ReviewClosed,
    ReviewOpened,
    SubagentFinished,
    SubagentStarted,
    TodosChanged,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    TurnStarted,
    TurnUndone,
    UserSpoke,
)
from odin_lsp.modes import Mode
from odin_lsp.ports import Answer, HunkState, Level, Question
from odin_lsp.records import Outcome, SubagentStatus, Todo, ToolStatus


@dataclass(frozen=True, slots=True)
class Said:
    text: str
    thinking: str = ""


@dataclass(frozen=True, slots=True)
class Spoken:
    """By the user, in the middle of the turn."""

    text: str


@dataclass(frozen=True, slots=True)
class Noted:
    level: Level
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """A tool."""

    name: str
    title: str
    status: ToolStatus | Literal["running"] = "running"
    result: str = ""
    added: int = 0
    removed: int = 0
    created: bool = False
    diff: str = ""
    output: str = ""
    command: str = ""


@dataclass(frozen=True, slots=True)
class Helped:
    agent_id: str
    description: str = ""
    mode: Mode = "ask_mode"
    status: SubagentStatus = "running"
    summary: str = ""


@dataclass(frozen=True, slots=True)
class Planned:
    todos: tuple[Todo, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    question: Question
    answer: Answer | None = None


@dataclass(frozen=True, slots=True)
class Reviewed:
    """Hunks by their ids: of which file each is, and what became of it."""

    hunks: Mapping[str, tuple[str, HunkState]]
    is_open: bool = True

    def decided(self, states: Iterable[tuple[str, HunkState]], *, is_open: bool) -> "Reviewed":
        now = dict(states)
        return Reviewed({it: (uri, now.get(it, state)) for it, (uri, state) in self.hunks.items()}, is_open)


@dataclass(frozen=True, slots=True)
class Checked:
    """What edits did to the problems of the workspace."""

    found: DiagnosticsCompared


Item = Said | Spoken | Noted | Used | Helped | Planned | Asked | Reviewed | Checked


@dataclass(slots=True)
class ToldTurn:
    turn_id: str = ""
    said: str = ""
    mode: Mode = "ask_mode"
    model: str = ""
    began: float = 0.0
    outcome: Outcome | None = None
    undone: TurnUndone | None = None
    items: dict[str, tuple[str, Item]] = field(default_factory=dict[str, tuple[str, Item]])
    """In order, each with whose it is."""

    def take(self, record: EventRecord) -> None:
        self.turn_id, event = record.turn_id, record.event
        match event:
            case TurnStarted(mode, model, text, attached):
                self.mode, self.model = mode, model or self.model
                self.said = "\n".join([text, *(f"(with {it.name or it.media_type})" for it in attached)])
                self.began = self.began or record.at
                self.outcome = None
            case TurnFinished(outcome):
                self.outcome = outcome
            case TurnUndone():
                self.undone = None if event.again else event
            case _:
                self._take_item(record.agent_id, event)

    def _take_item(self, agent: str, event: Event) -> None:
        match event:
            case MessageFinished(text, _, thinking) if text or thinking:
                self._add(agent, Said(text, thinking))
            case UserSpoke(text):
                self._add(agent, Spoken(text))
            case Notice(level, message):
                self._add(agent, Noted(level, message))
            case Compacted("succeeded", before, after):
                self._add(agent, Noted("info", f"earlier parts were summarized: {before:,} → {after:,} tokens"))
            case ModelChanged(selected, running) if selected != running:
                self._add(agent, Noted("info", f"{running} answers in place of {selected}"))
            case ToolStarted(call_id, name, arguments, description):
                used = Used(name=name, title=description, command=str(arguments.get("command", "")))
                self._put(f"call/{agent}/{call_id}", agent, used)
            case ToolFinished():
                self._finish(agent, event)
            case BackgroundFinished(call_id=call_id, message=message, output=output):
                if isinstance(used := self._item(f"call/{agent}/{call_id}"), Used):
                    status = "success" if event.status == "exited" and not event.exit_code else "error"
                    used = replace(used, status=status, result=message, output=output)
                    self._put(f"call/{agent}/{call_id}", agent, used)
            case TodosChanged(todos):
                self._put(f"todos/{agent}", agent, Planned(todos))
            case SubagentStarted(agent_id, description, mode):
                self._put(f"helper/{agent_id}", agent, Helped(agent_id, description, mode))
            case SubagentFinished(agent_id, status, summary):
                known = self._item(f"helper/{agent_id}")
                known = known if isinstance(known, Helped) else Helped(agent_id)
                self._put(f"helper/{agent_id}", agent, replace(known, status=status, summary=summary))
            case QuestionAsked(question) if question.kind != "review":
                self._put(f"question/{question.question_id}", agent, Asked(question))
            case QuestionAnswered(question_id, answer):
                if isinstance(asked := self._item(f"question/{question_id}"), Asked):
                    self._put(f"question/{question_id}", agent, replace(asked, answer=answer))
            case _:
                self._take_review(agent, event)

    def _take_review(self, agent: str, event: Event) -> None:
        match event:
            case ReviewOpened(review):
                hunks = [(file.uri, hunk) for file in review.files for hunk in file.hunks]
                self._put(
                    f"review/{review.proposal_id}", agent, Reviewed({it.id: (uri, it.state) for uri, it in hunks})
                )
            case ReviewChanged(proposal_id, hunks):
                self._decide(agent, proposal_id, ((it.id, it.state) for it in hunks), is_open=True)
            case ReviewClosed(proposal_id, receipts):
                self._decide(agent, proposal_id, ((it.hunk_id, it.state) for it in receipts), is_open=False)
            case DiagnosticsCompared() if event.introduced or event.fixed or event.unsure:
                self._add(agent, Checked(event))
            case _:
                pass

    def _finish(self, agent: str, event: ToolFinished) -> None:
        known = self._item(key := f"call/{agent}/{event.call_id}")
        title, command = (known.title, known.command) if isinstance(known, Used) else ("", "")
        self._put(
            key,
            agent,
            Used(
                name=event.name,
                title=title,
                status=event.status,
                result=event.description,
                added=event.added,
                removed=event.removed,
                created=event.created,
                diff=event.diff or "",
                output=event.output or (event.ran.output if event.ran else ""),
                command=event.ran.command if event.ran else command,
            ),
        )

    def _decide(self, agent: str, id: str, states: Iterable[tuple[str, HunkState]], *, is_open: bool) -> None:
        if isinstance(known := self._item(f"review/{id}"), Reviewed):
            self._put(f"review/{id}", agent, known.decided(states, is_open=is_open))

    def _item(self, key: str) -> Item | None:
        return self.items[key][1] if key in self.items else None

    def _put(self, key: str, agent: str, item: Item) -> None:
        self.items[key] = agent, item

    def _add(self, agent: str, item: Item) -> None:
        self._put(f"{len(self.items)}", agent, item)


def told(records: Iterable[EventRecord]) -> ToldTurn:
    """One turn, from all of its events."""
    turn = ToldTurn()
    for record in records:
        turn.take(record)
    return turn
