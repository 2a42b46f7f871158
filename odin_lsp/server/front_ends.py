"""All who show what Odin does here: the editor, and guests beside it. All are asked, and the first answer counts."""

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, Protocol, TypeVar

from odin_lsp.errors import RequestError
from odin_lsp.events import EventRecord, QuestionAnswered, QuestionAsked
from odin_lsp.ports import Answer, Editor, Level, PreviewingEditor, Question, Review, ReviewAnswer, ReviewFile
from odin_lsp.server.client import Abilities
from odin_lsp.server.rpc import ClientError

A = TypeVar("A")


class Beside(Protocol):
    """A front end without documents."""

    @property
    def abilities(self) -> Abilities: ...

    @property
    def editor(self) -> Editor: ...

    def shows(self, session_id: str) -> bool: ...


class FrontEnds:
    """The editor alone has documents: it applies, saves and reloads."""

    def __init__(self, editor: Editor) -> None:
        self._editor = editor
        self._beside: list[Beside] = []
        self._asked_in: dict[str, str] = {}
        """The sessions of open questions."""
        self.apply = editor.apply
        self.save = editor.save
        self.reload = editor.reload
        self.close_review = editor.close_review

    def join(self, front_end: Beside) -> None:
        self._beside.append(front_end)

    def leave(self, front_end: Beside) -> None:
        self._beside.remove(front_end)

    def follow(self, record: EventRecord) -> None:
        match record.event:
            case QuestionAsked(question):
                self._asked_in[question.question_id] = record.session_id
            case QuestionAnswered(question_id):
                self._asked_in.pop(question_id, None)
            case _:
                pass

    async def ask(self, question: Question) -> Answer | None:
        session_id = self._asked_in.get(question.question_id, "")
        able = [it for it in self._beside if it.abilities.question and it.shows(session_id)]
        return await _first([self._editor.ask(question), *(it.editor.ask(question) for it in able)])

    async def review(self, review: Review) -> ReviewAnswer | None:
        able = [it for it in self._beside if it.abilities.review and it.shows(review.session_id)]
        return await _first([self._editor.review(review), *(_reviewed(it.editor, review) for it in able)])

    def notify(self, level: Level, message: str) -> None:
        for it in (self._editor, *(it.editor for it in self._beside)):
            it.notify(level, message)

    def previews(self, file: ReviewFile) -> bool:
        return isinstance(self._editor, PreviewingEditor) and self._editor.previews(file)

    async def preview(self, file: ReviewFile) -> str | None:
        return await self._editor.preview(file) if isinstance(self._editor, PreviewingEditor) else None


async def _reviewed(editor: Editor, review: Review) -> ReviewAnswer | None:
    """Who cannot show it, or is gone, has not decided."""
    try:
        return await editor.review(review)
    except (ClientError, TimeoutError, RequestError):
        return None


async def _first(asked: Iterable[Coroutine[Any, Any, A | None]]) -> A | None:
    """The first answer; the others are called back. If nobody answers, it is what the first of them has to say."""
    tasks = [asyncio.create_task(it) for it in asked]
    waiting = set(tasks)
    try:
        while waiting:
            done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            answers = (it.result() for it in tasks if it in done and it.exception() is None)
            if (answer := next((it for it in answers if it is not None), None)) is not None:
                return answer
        return tasks[0].result()
    finally:
        for it in tasks:
            it.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
