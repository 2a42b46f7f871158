"""The editor's side of a turn, on a terminal."""

import asyncio
import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Literal

from odin_lsp.library.disk_editor import DiskEditor, accept_all, decide_all
from odin_lsp.ports import Answer, Level, Question, Review, ReviewAnswer
from odin_lsp.terminal.review import Reviewer
from odin_lsp.workspace.uris import path_of

Policy = Literal["ask", "yes", "no"]
PERMISSIONS = ("permission", "outside", "trust")
DENIED = "Odin was started with --no, which denies whatever it would ask about"
NOBODY = "there is no terminal on which somebody could be asked; --yes accepts everything"
EDIT = "edit "
INSTEAD = "show the change in your answer instead"


class TerminalEditor(DiskEditor):
    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self.denied = False
        """A permission was asked for and not given."""
        self.pause: Callable[[], AbstractContextManager[object]] = nullcontext
        """Keeps what is drawn meanwhile off the screen while a person is asked."""
        self._one_at_a_time = asyncio.Lock()

    async def ask(self, question: Question) -> Answer | None:
        async with self._one_at_a_time:
            answer = await self._answer(question)
        if question.kind in PERMISSIONS and (answer is None or "deny" in answer.option_ids):
            self.denied = True
        return answer

    async def review(self, review: Review) -> ReviewAnswer | None:
        if self._policy == "yes":
            return accept_all(review)
        if self._policy == "no" or not _somebody_there():
            self.denied = True
            why = DENIED if self._policy == "no" else NOBODY
            names = ", ".join(str(path_of(file.uri) or file.uri) for file in review.files)
            say(f"not changed: {names} ({why})")
            return decide_all(review, "reject", f"{why}; {INSTEAD}")
        colour = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
        async with self._one_at_a_time:
            with self.pause():
                return await Reviewer(say, _prompt, colour).decide(review)

    def notify(self, level: Level, message: str) -> None:
        say(f"{level}: {message}")

    async def _answer(self, question: Question) -> Answer | None:
        if question.kind in PERMISSIONS and self._policy == "yes":
            return Answer(("allow_once",))
        if self._policy != "ask" or not _somebody_there():
            why = DENIED if self._policy == "no" else NOBODY
            return Answer(("deny",), why) if question.kind in PERMISSIONS else None
        with self.pause():
            header = f"{question.header}: " if question.header else ""
            say(f"\n{header}{question.title}\n{question.detail}".rstrip())
            for index, option in enumerate(question.options, 1):
                say(f"  {index}. {option.label}{f': {option.description}' if option.description else ''}")
            say("Answer with a number, or in words; an empty line is no answer.")
            if question.editable:
                say(f"`{EDIT}COMMAND` allows another command in its place, once.")
            return _understood(question, await _line())


def say(text: str) -> None:
    """To the person, not into the answer that may be piped on; if nobody is there any more, to nobody."""
    with suppress(BrokenPipeError):
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()


def _somebody_there() -> bool:
    """Somebody who can answer, and sees what they are asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


async def _prompt(prompt: str) -> str | None:
    sys.stderr.write(f"{prompt} ")
    sys.stderr.flush()
    return await _line()


async def _line() -> str | None:
    """A line from the terminal, `None` at its end; unlike a thread that reads, this can be cancelled."""
    loop = asyncio.get_running_loop()
    ready = loop.create_future()
    loop.add_reader(sys.stdin, lambda: ready.done() or ready.set_result(None))
    try:
        await ready
        line = sys.stdin.readline()
        return line.strip() if line else None
    finally:
        loop.remove_reader(sys.stdin)


def _understood(question: Question, said: str | None) -> Answer | None:
    if not said:
        return None
    if question.editable and said.startswith(EDIT):
        return Answer(("allow_once",), command=said.removeprefix(EDIT).strip())
    numbers = said.replace(",", " ").split()
    if all(number.isdigit() and 1 <= int(number) <= len(question.options) for number in numbers):
        chosen = tuple(question.options[int(number) - 1].id for number in numbers)
        return Answer(chosen if question.multiple else chosen[:1])
    return Answer(text=said) if question.allow_text else None
