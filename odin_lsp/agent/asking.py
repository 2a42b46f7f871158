"""Questions to the person, as part of the conversation: what was asked and answered can be shown again."""

from collections.abc import Callable

from odin_lsp.events import Emit, QuestionAnswered, QuestionAsked
from odin_lsp.ports import Answer, Asker, Level, Question


class AskerInTurn:
    def __init__(self, asker: Asker, emit: Callable[[], Emit]) -> None:
        self._asker = asker
        self._emit = emit
        """Of the turn that runs when something is asked; of none, what is asked apart from turns."""

    async def ask(self, question: Question) -> Answer | None:
        emit = self._emit()
        emit(QuestionAsked(question))
        answer: Answer | None = None
        try:
            answer = await self._asker.ask(question)
        finally:
            emit(QuestionAnswered(question.question_id, answer))
        return answer

    def notify(self, level: Level, message: str) -> None:
        self._asker.notify(level, message)
