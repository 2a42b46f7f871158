"""A review on a terminal: hunk by hunk, shown as a diff, decided with a letter."""

import asyncio
import os
import shlex
import signal
import sys
import tempfile
from collections.abc import Awaitable, Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from odin_lsp.display import shown_exactly, shown_line
from odin_lsp.errors import ToolError
from odin_lsp.ports import Decision, Review, ReviewAnswer, ReviewFile, ReviewHunk
from odin_lsp.terminal.person import Say
from odin_lsp.workspace import disk
from odin_lsp.workspace.ranges import span
from odin_lsp.workspace.text import Lines, line_end, whole_lines
from odin_lsp.workspace.uris import path_of

PROMPT = "Accept this hunk? [y,n,a,A,d,q,e,?]"
WHOLE = "Accept all of these hunks? They belong together. [y,n,?]"
WHY_NOT = "Why not? (an empty line is fine)"
HELP = """\
y  accept this hunk
n  reject it (optional reason)
a  accept it and the rest of this file; they are shown
A  accept it and the rest of this review; they are shown
d  reject it and the rest of this file
q  reject it and the rest of this review
e  edit it, then accept
?  help"""
WHOLE_HELP = """\
y  accept all of them
n  reject all of them (optional reason)
q  reject all of them
?  help"""
CONTEXT = 3
BOLD, RED, GREEN, YELLOW, CYAN = 1, 31, 32, 33, 36
COLOURS = {"+": GREEN, "-": RED, "@": CYAN}


@dataclass(frozen=True, slots=True)
class Reviewer:
    say: Say
    ask: Callable[[str], Awaitable[str | None]]
    """The line that answers a prompt; `None` when nobody will answer any more."""
    colour: bool = False

    async def decide(self, review: Review) -> ReviewAnswer:
        if review.reason:
            self._say(shown_line(review.reason), BOLD)
        if review.atomic:
            return await self._decide_on_whole(review)
        decisions: list[Decision] = []
        said = ""
        for file in review.files:
            said = said if said in ("A", "q") else ""
            for hunk in pending(file):
                if said not in ("d", "q"):
                    self._show(file, hunk, "" if hunk.reason == review.reason else hunk.reason)
                match said:
                    case "a" | "A":
                        decision = Decision(hunk_id=hunk.id, decision="accept")
                    case "d" | "q":
                        decision = Decision(hunk_id=hunk.id, decision="reject")
                    case _:
                        said, decision = await self._decide_on(file, hunk)
                decisions.append(decision)
        return ReviewAnswer(decisions=tuple(decisions))

    async def _decide_on_whole(self, review: Review) -> ReviewAnswer:
        """All of it is shown before anybody is asked."""
        hunks = [(file, hunk) for file in review.files for hunk in pending(file)]
        for file, hunk in hunks:
            self._show(file, hunk, "" if hunk.reason == review.reason else hunk.reason)
        said: str | None = ""
        while hunks and said not in ("y", "n", "q", None):
            said = await self.ask(WHOLE)
            if said not in ("y", "n", "q", "", None):
                self.say(WHOLE_HELP)
        reason = await self.ask(WHY_NOT) if said == "n" else None
        kind = "accept" if said == "y" else "reject"
        decisions = (Decision(hunk_id=it.id, decision=kind, reason=reason or None) for _, it in hunks)
        return ReviewAnswer(decisions=tuple(decisions))

    async def _decide_on(self, file: ReviewFile, hunk: ReviewHunk) -> tuple[str, Decision]:
        """What was said, and what it means for this hunk. Silence is never a yes."""
        while True:
            match said := await self.ask(PROMPT):
                case "y" | "a" | "A":
                    return said, Decision(hunk_id=hunk.id, decision="accept")
                case "n":
                    reason = await self.ask(WHY_NOT)
                    return said, Decision(hunk_id=hunk.id, decision="reject", reason=reason or None)
                case "d" | "q":
                    return said, Decision(hunk_id=hunk.id, decision="reject")
                case None:
                    return "q", Decision(hunk_id=hunk.id, decision="reject")
                case "e":
                    if decision := await self._edit(file, hunk):
                        return said, decision
                case "":
                    pass
                case _:
                    self.say(HELP)

    async def _edit(self, file: ReviewFile, hunk: ReviewHunk) -> Decision | None:
        """`None`, and a word on it, if that did not work."""
        if file.operation in ("delete", "rename"):
            self.say(f"a {file.operation} has no text to edit")
            return None
        try:
            edited = await _in_editor(hunk, Path(_path(file.uri)).suffix)
        except (OSError, ValueError) as error:
            self.say(f"the editor did not work: {error}")
            return None
        if edited == hunk.new_text:
            return Decision(hunk_id=hunk.id, decision="accept")
        return Decision(hunk_id=hunk.id, decision="modify", text=edited)

    def _show(self, file: ReviewFile, hunk: ReviewHunk, reason: str) -> None:
        number = f" ({file.hunks.index(hunk) + 1} of {len(file.hunks)})" if len(file.hunks) > 1 else ""
        to = f" → {_shown(file.new_uri)}" if file.new_uri else ""
        self._say(f"\n{file.operation} {_shown(file.uri)}{to}{number}", BOLD)
        if file.note:
            self._say(f"note: {shown_line(file.note)}", YELLOW)
        if reason:
            self._say(shown_line(reason))
        for line in diff(*_sides(file, hunk)):
            self._say(line, COLOURS.get(line[0]))

    def _say(self, line: str, colour: int | None = None) -> None:
        if self.colour and colour:
            self.say(line, colour)
        else:
            self.say(line)


def pending(file: ReviewFile) -> Iterator[ReviewHunk]:
    return (hunk for hunk in file.hunks if hunk.state == "pending")


def diff(old: str, new: str, first: int = 0) -> Iterator[str]:
    """The one place in which two texts differ, as lines that can be shown; `first` lines come before the texts."""
    if old == new:
        return
    before, after = whole_lines(old), whole_lines(new)
    head = _common(before, after)
    tail = _common(before[head:][::-1], after[head:][::-1])
    end, new_end = len(before) - tail, len(after) - tail
    start, stop = max(0, head - CONTEXT), min(end + CONTEXT, len(before))
    yield f"@@ -{_place(first + start, stop - start)} +{_place(first + start, stop - start + new_end - end)} @@"
    marked = [
        *((" ", line) for line in before[start:head]),
        *(("-", line) for line in before[head:end]),
        *(("+", line) for line in after[head:new_end]),
        *((" ", line) for line in before[end:stop]),
    ]
    ends = {line_end(line) for _, line in marked} - {None}
    for mark, line in marked:
        yield mark + shown_exactly(line.removesuffix("\n") if len(ends) > 1 else line.rstrip("\r\n"))
        if line_end(line) is None:
            yield "\\ No newline at end of file"


def _sides(file: ReviewFile, hunk: ReviewHunk) -> tuple[str, str, int]:
    """The file before and after the hunk; the hunk alone if the file is not what it was made for."""
    if file.operation == "edit" and (path := path_of(file.uri)):
        try:
            lines = Lines(disk.read_text(path).text)
        except ToolError:
            return hunk.old_text, hunk.new_text, hunk.range.start.line
        start, end = span(lines, hunk.range)
        if lines.text[start:end] == hunk.old_text:
            return lines.text, lines.text[:start] + hunk.new_text + lines.text[end:], 0
    return hunk.old_text, hunk.new_text, hunk.range.start.line


def _common(one: Sequence[str], two: Sequence[str]) -> int:
    """How many elements both begin with."""
    pairs = enumerate(zip(one, two, strict=False))
    return next((index for index, (left, right) in pairs if left != right), min(len(one), len(two)))


def _place(start: int, count: int) -> str:
    """Lines as a diff counts them."""
    return f"{start + 1 if count else start},{count}"


def _shown(uri: str) -> str:
    """As seen from here, if it is below."""
    path = Path(_path(uri))
    with suppress(OSError, ValueError):  # the folder may be gone
        path = path.relative_to(Path.cwd())
    return shown_exactly(str(path))


def _path(uri: str) -> str:
    return str(path_of(uri) or uri)


async def _in_editor(hunk: ReviewHunk, suffix: str) -> str:
    """What the person makes of the new text. Editors end the last line; where none had an end, it gets none."""
    command = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "")
    if not command:
        raise OSError("set $VISUAL or $EDITOR to yours")
    with _scratch(hunk.new_text, suffix) as path:
        if code := await _run([*command, path]):
            raise OSError(f"{command[0]} ended with {code}")
        edited = _content(path)
    end = line_end(edited)
    return edited.removesuffix(end) if end and not line_end(hunk.old_text) and not line_end(hunk.new_text) else edited


@contextmanager
def _scratch(content: str, suffix: str) -> Generator[str]:
    with tempfile.TemporaryDirectory(prefix="odin-") as folder:
        path = Path(folder, f"hunk{suffix}")
        path.write_bytes(content.encode("utf-8", "surrogatepass"))
        yield str(path)


def _content(path: str) -> str:
    return Path(path).read_bytes().decode()


async def _run(command: Sequence[str]) -> int:
    """Run it on the terminal, even if the answer is piped on; Ctrl-C is meant for it."""
    process = await asyncio.create_subprocess_exec(*command, stdout=sys.__stderr__)
    try:
        with _interrupts_ignored():
            return await process.wait()
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()


@contextmanager
def _interrupts_ignored() -> Generator[None]:
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if sys.platform != "win32":
            signal.siginterrupt(signal.SIGINT, False)
