"""The caller's editor, so that its faults end the turn that they belong to, and no review waits without end."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Literal

from odin_lsp.events import EventRecord, QuestionAnswered, QuestionAsked
from odin_lsp.library.session import Turn
from odin_lsp.ports import Answer, Editor, Question, Review, ReviewAnswer, decide_all

NOT_DECIDED = "not decided on"


class GuardedEditor:
    takes_its_time: Literal[True] = True

    def __init__(self, editor: Editor, running: Mapping[str, Turn]) -> None:
        self._editor = editor
        self._running = running
        self._asking: dict[str, str] = {}
        """The turns of open questions."""
        self.notify = editor.notify
        self.close_review = editor.close_review
        self.apply = editor.apply
        self.save = editor.save
        self.reload = editor.reload

    def follow(self, record: EventRecord) -> None:
        match record.event:
            case QuestionAsked(question):
                self._asking[question.question_id] = record.turn_id
            case QuestionAnswered(question_id):
                self._asking.pop(question_id, None)
            case _:
                pass

    async def ask(self, question: Question) -> Answer | None:
        with _Fault(self._running.get(self._asking.get(question.question_id, ""))):
            return await self._editor.ask(question)

    async def review(self, review: Review) -> ReviewAnswer | None:
        """Nobody can decide later: there is nothing that would show it. What was proposed before this program began is
        none of its business, and waits for an editor."""
        if (turn := self._running.get(review.turn_id)) is None:
            return None
        with _Fault(turn):
            answer = await self._editor.review(review) or ReviewAnswer()
            decided = {it.hunk_id for it in answer.decisions}
            rest = (it for it in decide_all(review, "reject", NOT_DECIDED).decisions if it.hunk_id not in decided)
            return replace(answer, decisions=(*answer.decisions, *rest))


@dataclass(frozen=True, slots=True)
class _Fault:
    """What is raised in here ends the turn, if it is known, and is raised to whoever waits for it."""

    turn: Turn | None

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if self.turn is None or not isinstance(error, Exception):
            return False
        self.turn.fail(error)
        return True
