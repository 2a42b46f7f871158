"""The patches that Codex writes (`apply_patch`), and what they make of a text."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate

from odin_lsp.errors import ToolError

BEGIN, END = "*** Begin Patch", "*** End Patch"
ADD, DELETE, UPDATE, MOVE = "*** Add File: ", "*** Delete File: ", "*** Update File: ", "*** Move to: "
AT_END = "*** End of File"
_ALIKE: tuple[Callable[[str], str], ...] = (str, str.rstrip, str.strip)
"""How lines are compared, the most exact way first."""


@dataclass(slots=True)
class Chunk:
    anchors: list[str] = field(default_factory=list[str])
    """Lines that come before it."""
    lines: list[str] = field(default_factory=list[str])
    """Each with a sign before it: it stays, goes or comes."""
    is_at_end: bool = False

    @property
    def old(self) -> list[str]:
        return [line[1:] for line in self.lines if line[:1] != "+"]


@dataclass(slots=True)
class Patch:
    """Of one file."""

    head: str
    """`ADD`, `DELETE` or `UPDATE`."""
    path: str
    new_path: str | None = None
    content: list[str] = field(default_factory=list[str])
    """Of a new file."""
    chunks: list[Chunk] = field(default_factory=list[Chunk])


def parse(text: str) -> list[Patch]:
    begin, end = text.find(BEGIN), text.rfind(END)
    if begin < 0 or end < begin:
        raise ToolError(f"this is no patch: it has no `{BEGIN}` or no `{END}`")
    patches: list[Patch] = []
    for line in text[begin + len(BEGIN) : end].strip("\n").split("\n"):
        head = next((it for it in (ADD, DELETE, UPDATE) if line.startswith(it)), None)
        if head:
            patches.append(Patch(head, line.removeprefix(head).strip()))
        elif patches:
            _take(patches[-1], line)
        elif line.strip():
            raise ToolError(f"a line of the patch belongs to no file: {line}")
    if not patches:
        raise ToolError("the patch is empty")
    return patches


def patched(text: str, patch: Patch) -> str:
    """What an update makes of a text with plain line ends."""
    lines = text.removesuffix("\n").split("\n") if text else []
    sought = _Sought(lines, patch.path)
    at = 0
    made: list[str] = []
    for chunk in patch.chunks:
        start = at
        for anchor in chunk.anchors:
            start = sought.find([anchor], start) + 1
        place = sought.find(chunk.old, start, is_at_end=chunk.is_at_end) if chunk.old else len(lines)
        made += lines[at:place]
        at = place
        for line in chunk.lines:
            if line[:1] == "+":
                made.append(line[1:])
            else:
                made += lines[at : at + 1] if line[:1] != "-" else []
                at += 1
    made += lines[at:]
    return "\n".join(made) + ("\n" if text.endswith("\n") or not text else "")


def _take(patch: Patch, line: str) -> None:
    chunks = patch.chunks
    match patch.head, line[:1]:
        case "*** Add File: ", "+":
            patch.content.append(line[1:])
        case "*** Update File: ", _ if line.startswith(MOVE):
            patch.new_path = line.removeprefix(MOVE).strip()
        case "*** Update File: ", _ if line == AT_END and chunks:
            chunks[-1].is_at_end = True
        case "*** Update File: ", "@":
            if not chunks or chunks[-1].lines:
                chunks.append(Chunk())
            if anchor := line.removeprefix("@@").strip():
                chunks[-1].anchors.append(anchor)
        case "*** Update File: ", "+" | "-" | " " | "":
            if not chunks:
                chunks.append(Chunk())
            chunks[-1].lines.append(line)
        case _:
            raise ToolError(f"a line of the patch is not understood: {line}")


class _Sought:
    """Lines in which rows of lines are looked for, each time without a walk over all of them."""

    def __init__(self, lines: Sequence[str], path: str) -> None:
        self._lines = lines
        self._path = path

    def find(self, wanted: Sequence[str], start: int, *, is_at_end: bool = False) -> int:
        """The first place from there on, or the last one."""
        for alike, (text, starts) in zip(_ALIKE, self._forms, strict=True):
            row = _fenced(map(alike, wanted))
            at = text.rfind(row, starts[start]) if is_at_end else text.find(row, starts[start])
            if at >= 0:
                return bisect_left(starts, at)
        quoted = "\n".join(wanted)
        raise ToolError(f"the patch does not fit {self._path}: it has no such lines (any more):\n{quoted}")

    @cached_property
    def _forms(self) -> list[tuple[str, list[int]]]:
        """For each way to compare: the text, and where its lines begin."""
        return [
            (_fenced(bare), list(accumulate((len(it) + 1 for it in bare), initial=0)))
            for bare in ([alike(it) for it in self._lines] for alike in _ALIKE)
        ]


def _fenced(lines: Iterable[str]) -> str:
    """Each between line ends: a row is found at whole lines only."""
    return "".join(f"\n{line}" for line in lines) + "\n"
