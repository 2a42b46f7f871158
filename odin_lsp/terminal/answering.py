"""Who answers at a terminal: the person, or what they said when they started Odin."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Literal

from odin_lsp.display import shown_line
from odin_lsp.ports import UNASKED, Answer, Level, Question, Review, ReviewAnswer, decide_all
from odin_lsp.terminal.person import Person, wants_colour
from odin_lsp.terminal.questions import answered
from odin_lsp.terminal.review import Reviewer
from odin_lsp.workspace.uris import path_of

Policy = Literal["ask", "yes", "no"]
PERMISSIONS = ("permission", "outside", "trust")
DENIED = "Odin was started with --no, which denies whatever it would ask about"
NOBODY = "Odin cannot ask, because stdin or stderr is not a terminal; pass --yes to allow what it asks for"
INSTEAD = "show the change in your answer instead"


class Answering:
    def __init__(self, policy: Policy, person: Person | None = None, *, is_for_own: bool = True) -> None:
        self._policy = policy
        self._person = person or Person()
        self.is_for_own = is_for_own or policy != "ask"
        """Of several front ends of one session it answers for what it has begun itself, and for nothing else."""
        self.denied = False
        """A permission was asked for and not given."""
        self.pause: Callable[[], AbstractContextManager[object]] = nullcontext
        """Keeps what is drawn meanwhile off the screen while a person is asked."""
        self._one_at_a_time = asyncio.Lock()

    @property
    def can_ask(self) -> bool:
        """Whether there will be an answer."""
        return self._policy != "ask" or self._person.is_there()

    async def ask(self, question: Question) -> Answer | None:
        async with self._one_at_a_time:
            answer = await self._answer(question)
        if question.kind in PERMISSIONS and (answer is None or "deny" in answer.option_ids):
            self.denied = True
        return answer

    async def review(self, review: Review) -> ReviewAnswer | None:
        if self._policy == "yes":
            return decide_all(review, "accept", UNASKED)
        if why := self._why_not_ask:
            self.denied = True
            names = ", ".join(str(path_of(file.uri) or file.uri) for file in review.files)
            self._person.say(f"not changed: {shown_line(names)} ({why})")
            return decide_all(review, "reject", f"{why}; {INSTEAD}")
        async with self._one_at_a_time:
            with self.pause():
                return await Reviewer(self._person.say, self._person.ask, wants_colour()).decide(review)

    def notify(self, level: Level, message: str) -> None:
        self._person.say(f"{level}: {message}")

    async def _answer(self, question: Question) -> Answer | None:
        if question.kind in PERMISSIONS and self._policy == "yes":
            return Answer(("allow_once",))
        if why := self._why_not_ask:
            if question.kind not in PERMISSIONS:
                return None
            about = question.command or question.detail or question.title
            self._person.say(f"not allowed: {shown_line(about)} ({why})")
            return Answer(("deny",), why)
        with self.pause():
            return await answered(question, self._person)

    @property
    def _why_not_ask(self) -> str | None:
        if self._policy == "ask":
            return None if self._person.is_there() else NOBODY
        return DENIED if self._policy == "no" else None
