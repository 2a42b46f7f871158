"""Questions in editors that know nothing of Odin: a message with buttons, and the same buttons as code actions. Not
every editor shows the message; the first answer counts."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from lsprotocol import types

from odin_lsp.config import Timeouts
from odin_lsp.markdown import unlinked
from odin_lsp.ports import Answer, Level, Option, Question
from odin_lsp.server.rpc import OdinProtocol
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
                    self._notify("warning", f"{question.title} Choose the answer in the code actions.")
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
                yield f"Odin: {option.label} ({question.title[:MAX_TITLE]})", question, option

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
        params = types.ShowMessageRequestParams(
            types.MessageType.Info,
            unlinked(f"{question.title}\n{question.detail}".strip()),
            [types.MessageActionItem(option.label) for option in question.options],
        )
        chosen: Any = await self._protocol.ask_client(types.WINDOW_SHOW_MESSAGE_REQUEST, params)
        return next((Answer((it.id,)) for it in question.options if chosen and it.label == chosen.title), None)
