"""All who show what Odin does here: the editor, and guests beside it. All are asked, and the first answer counts."""

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, Protocol, TypeVar

from odin_lsp.errors import RequestError
from odin_lsp.events import EventRecord, QuestionAnswered, QuestionAsked
from odin_lsp.ports import (
    NO_REVIEWER,
    Answer,
    Editor,
    Level,
    PreviewingEditor,
    Question,
    Review,
    ReviewAnswer,
    ReviewFile,
    decide_all,
)
from odin_lsp.server.client import Abilities
from odin_lsp.server.event_sender import Written
from odin_lsp.server.rpc import ClientError

A = TypeVar("A")
NOBODY = (
    f"{NO_REVIEWER}; ask the user to open this folder in an editor with Odin, or to run `odin-lsp chat` in it, and then"
    " make the call again"
)


class Beside(Protocol):
    """A front end without documents."""

    @property
    def abilities(self) -> Abilities: ...

    @property
    def editor(self) -> Editor: ...

    def shows(self, session_id: str) -> bool: ...


class FrontEnds:
    """The editor alone has documents: it applies, saves and reloads."""

    def __init__(self, editor: Editor, *, has_screen: bool = True) -> None:
        """`has_screen`: the editor shows reviews to somebody."""
        self._editor = editor
        self._has_screen = has_screen
        self._beside: list[Beside] = []
        self._asked_in: dict[str, str] = {}
        """The sessions of open questions."""
        self.written = Written()
        """The events that all of them are sent."""
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
        agents = self._agents(session_id)
        people = [it for it in self._people(session_id, of_agent=bool(agents)) if it.abilities.question]
        answer = await _first([self._editor.ask(question), *(it.editor.ask(question) for it in people)])
        if answer is None and not self._has_screen and (able := [it for it in agents if it.abilities.question]):
            answer = await _first(it.editor.ask(question) for it in able)
        return answer

    async def review(self, review: Review) -> ReviewAnswer | None:
        """An agent of others that waits for a review is not left waiting for somebody who may never come."""
        agents, left = self._agents(review.session_id), list[Beside]()
        people = [it for it in self._people(review.session_id, of_agent=bool(review.origin)) if it.abilities.review]
        answer = await _first([self._editor.review(review), *(_reviewed(it, review, left) for it in people)])
        if answer is not None or self._has_screen or left or not agents:
            return answer
        if able := [it for it in agents if it.abilities.review]:
            return await _first(_reviewed(it, review, left) for it in able)
        return decide_all(review, "reject", NOBODY)

    def _people(self, session_id: str, *, of_agent: bool) -> list[Beside]:
        """Who may answer. What an agent of others wants concerns everybody: nobody else has its session open."""
        return [it for it in self._beside if not it.abilities.agent and (of_agent or it.shows(session_id))]

    def _agents(self, session_id: str) -> list[Beside]:
        """Agents of others whose session it is."""
        return [it for it in self._beside if it.abilities.agent and it.shows(session_id)]

    def notify(self, level: Level, message: str) -> None:
        for it in (self._editor, *(it.editor for it in self._beside)):
            it.notify(level, message)

    def previews(self, file: ReviewFile) -> bool:
        return isinstance(self._editor, PreviewingEditor) and self._editor.previews(file)

    async def preview(self, file: ReviewFile) -> str | None:
        return await self._editor.preview(file) if isinstance(self._editor, PreviewingEditor) else None


async def _reviewed(front_end: Beside, review: Review, left: list[Beside]) -> ReviewAnswer | None:
    """Who cannot show it, or is gone, has not decided."""
    try:
        return await front_end.editor.review(review)
    except (ClientError, TimeoutError, RequestError):
        left.append(front_end)
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
