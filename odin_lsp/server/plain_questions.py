"""Questions in editors that know nothing of Odin: a message with buttons, and the same buttons as code actions. Not
every editor shows the message; the first answer counts."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from odin_lsp.config import Timeouts
from odin_lsp.display import shown_line
from odin_lsp.ports import Answer, Level, Option, Question
from odin_lsp.server.rpc import OdinProtocol
from odin_lsp.server.window import ask_with_buttons
from odin_lsp.values import Value

MAX_TITLE = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerParams(Value):
    """`odin.answer`: what Odin asks by `window/showMessageRequest`, answered by a code action.
    The first answer counts."""

    question_id: str
    option_id: str


@dataclass(frozen=True, slots=True)
class Answered(Value):
    answered: bool
    """False if this question no longer waits, or has no such option."""


class PlainQuestions:
    def __init__(
        self, protocol: OdinProtocol, timeouts: Callable[[], Timeouts], notify: Callable[[Level, str], None]
    ) -> None:
        self._protocol = protocol
        self._timeouts = timeouts
        self._notify = notify
        self._waiting: tuple[Question, asyncio.Future[Answer]] | None = None

    async def ask(self, question: Question, *, has_actions: bool) -> Answer | None:
        """One choice at most, and no free text. A `TimeoutError` if nobody answers in time."""
        if not question.options:
            return None
        chosen: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting = question, chosen
        pressed = asyncio.create_task(self._by_message(question))
        try:
            async with asyncio.timeout(self._timeouts().person):
                await asyncio.wait((pressed, chosen), return_when=asyncio.FIRST_COMPLETED)
                is_shown = not pressed.done() or pressed.exception() is None
                if not is_shown and has_actions and not chosen.done():
                    asked = f"{question.title}\n{question.full_detail}".strip()
                    self._notify("warning", f"{asked}\nChoose the answer in the code actions.")
                    await chosen
            return chosen.result() if chosen.done() else await pressed
        finally:
            self._waiting = None
            pressed.cancel()

    def offered(self) -> Iterator[tuple[str, Question, Option]]:
        """What can be answered now, each answer with a title of its own."""
        if self._waiting is not None:
            question, _ = self._waiting
            for option in question.options:
                about = shown_line(question.command or question.title, MAX_TITLE)
                yield f"Odin: {shown_line(option.label)} ({about})", question, option

    def answer(self, question_id: str, option_id: str) -> bool:
        """Whether this question was waiting for that."""
        if self._waiting is None:
            return False
        question, chosen = self._waiting
        if question.question_id != question_id or option_id not in {it.id for it in question.options} or chosen.done():
            return False
        chosen.set_result(Answer((option_id,)))
        return True

    async def _by_message(self, question: Question) -> Answer | None:
        labels = [it.label for it in question.options]
        chosen = await ask_with_buttons(self._protocol, question.title, question.full_detail, labels)
        return None if chosen is None else Answer((question.options[chosen].id,))
