"""The editor's side of a turn, on a terminal."""

import asyncio
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import Literal

from odin_lsp.errors import ToolError
from odin_lsp.ports import Answer, Decision, FileChange, Level, Question, Review, ReviewAnswer, TextReplacement
from odin_lsp.review.proposals import UNASKED
from odin_lsp.terminal.review import Reviewer, pending, span
from odin_lsp.workspace import disk
from odin_lsp.workspace.text import Decoded, Lines
from odin_lsp.workspace.uris import path_of

Policy = Literal["ask", "yes", "no"]
PERMISSIONS = ("permission", "outside", "trust")
DENIED = "Odin was started with --no, which denies whatever it would ask about"
NOBODY = "there is no terminal on which somebody could be asked; --yes accepts everything"
INSTEAD = "show the change in your answer instead"


class TerminalEditor:
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
            return _all(review, "accept", UNASKED)
        if self._policy == "no" or not _somebody_there():
            self.denied = True
            why = DENIED if self._policy == "no" else NOBODY
            names = ", ".join(str(path_of(file.uri) or file.uri) for file in review.files)
            say(f"not changed: {names} ({why})")
            return _all(review, "reject", f"{why}; {INSTEAD}")
        colour = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
        async with self._one_at_a_time:
            with self.pause():
                return await Reviewer(say, _prompt, colour).decide(review)

    async def close_review(self, proposal_id: str) -> None:
        pass

    async def apply(self, change: FileChange) -> str | None:
        try:
            _carry_out(change)
        except ToolError as error:
            return str(error)
        return None

    async def save(self, uris: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
        return ()  # what is applied here is on disk

    async def reload(self, uris: tuple[str, ...]) -> None:
        """Nothing is open here."""

    def notify(self, level: Level, message: str) -> None:
        say(f"{level}: {message}")

    async def _answer(self, question: Question) -> Answer | None:
        if question.kind in PERMISSIONS and self._policy == "yes":
            return Answer(("allow_once",))
        if self._policy != "ask" or not _somebody_there():
            why = DENIED if self._policy == "no" else NOBODY
            return Answer(("deny",), why) if question.kind in PERMISSIONS else None
        with self.pause():
            say(f"\n{question.title}\n{question.detail}".rstrip())
            for index, option in enumerate(question.options, 1):
                say(f"  {index}. {option.label}{f': {option.description}' if option.description else ''}")
            say("Answer with a number, or in words; an empty line is no answer.")
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
    numbers = said.replace(",", " ").split()
    if all(number.isdigit() and 1 <= int(number) <= len(question.options) for number in numbers):
        chosen = tuple(question.options[int(number) - 1].id for number in numbers)
        return Answer(chosen if question.multiple else chosen[:1])
    return Answer(text=said) if question.allow_text else None


def _all(review: Review, decision: Literal["accept", "reject"], reason: str | None = None) -> ReviewAnswer:
    hunks = (hunk for file in review.files for hunk in pending(file))
    return ReviewAnswer(decisions=tuple(Decision(hunk_id=it.id, decision=decision, reason=reason) for it in hunks))


def _carry_out(change: FileChange) -> None:
    path = _path(change.uri)
    match change.operation:
        case "edit":
            content = disk.read_text(path)
            before = content.text if change.before is None else change.before
            disk.write_text(path, replace(content, text=_replaced(before, change.edits)), before)
        case "create":
            disk.create_text(path, Decoded("".join(edit.new_text for edit in change.edits), "utf-8"))
        case "delete":
            disk.delete(path, recursive=change.recursive)
        case "rename":
            disk.rename(path, _path(change.new_uri or ""))


def _path(uri: str) -> Path:
    if (path := path_of(uri)) is None:
        raise ToolError(f"{uri!r} names no file on this machine; name one")
    return path


def _replaced(text: str, edits: Sequence[TextReplacement]) -> str:
    """All of them at once: each range is one of the text as it is now."""
    lines = Lines(text)
    pieces: list[str] = []
    at = 0
    for (start, end), new in sorted(((span(lines, it.range), it.new_text) for it in edits), key=lambda it: it[0]):
        if start < at:
            raise ToolError("the changes overlap; propose them one after the other")
        pieces += [text[at:start], new]
        at = end
    return "".join([*pieces, text[at:]])
