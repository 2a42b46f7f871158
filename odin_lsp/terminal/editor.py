"""The editor's side of a turn, on a terminal."""

import asyncio
import sys
from typing import Literal

from odin_lsp.events import Level
from odin_lsp.ports import Answer, Question

Policy = Literal["ask", "yes", "no"]
PERMISSIONS = ("permission", "outside", "trust")


class TerminalEditor:
    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self.denied = False
        """A permission was asked for and not given."""

    async def ask(self, question: Question) -> Answer | None:
        answer = await self._answer(question)
        if question.kind in PERMISSIONS and (answer is None or "deny" in answer.option_ids):
            self.denied = True
        return answer

    def notify(self, level: Level, message: str) -> None:
        say(f"{level}: {message}")

    async def _answer(self, question: Question) -> Answer | None:
        if question.kind in PERMISSIONS and self._policy != "ask":
            return Answer(("allow_once" if self._policy == "yes" else "deny",))
        if self._policy != "ask" or not sys.stdin.isatty():
            return None
        say(f"\n{question.title}\n{question.detail}".rstrip())
        for index, option in enumerate(question.options, 1):
            say(f"  {index}. {option.label}{f': {option.description}' if option.description else ''}")
        say("Answer with a number, or in words; an empty line is no answer.")
        return _understood(question, await _line())


def say(text: str) -> None:
    """To the person, not into the answer that may be piped on."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


async def _line() -> str:
    """A line from the terminal; unlike a thread that reads, this can be cancelled."""
    loop = asyncio.get_running_loop()
    ready = loop.create_future()
    loop.add_reader(sys.stdin, lambda: ready.done() or ready.set_result(None))
    try:
        await ready
        return sys.stdin.readline().strip()
    finally:
        loop.remove_reader(sys.stdin)


def _understood(question: Question, said: str) -> Answer | None:
    if not said:
        return None
    numbers = said.replace(",", " ").split()
    if all(number.isdigit() and 1 <= int(number) <= len(question.options) for number in numbers):
        chosen = tuple(question.options[int(number) - 1].id for number in numbers)
        return Answer(chosen if question.multiple else chosen[:1])
    return Answer(text=said) if question.allow_text else None
