"""The patches that Codex writes (`apply_patch`), and what they make of a text."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

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
    at = 0
    made: list[str] = []
    for chunk in patch.chunks:
        start = at
        for anchor in chunk.anchors:
            start = _found(lines, [anchor], start, patch) + 1
        place = _found(lines, chunk.old, start, patch, is_at_end=chunk.is_at_end) if chunk.old else len(lines)
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


def _found(lines: Sequence[str], wanted: Sequence[str], start: int, patch: Patch, *, is_at_end: bool = False) -> int:
    places = list(_places(lines, wanted, start))
    if not places:
        quoted = "\n".join(wanted)
        raise ToolError(f"the patch does not fit {patch.path}: it has no such lines (any more):\n{quoted}")
    return places[-1] if is_at_end else places[0]


def _places(lines: Sequence[str], wanted: Sequence[str], start: int) -> Iterator[int]:
    for alike in _ALIKE:
        pattern = [alike(it) for it in wanted]
        text = [alike(it) for it in lines]
        found = [at for at in range(start, len(text) - len(pattern) + 1) if text[at : at + len(pattern)] == pattern]
        if found:
            yield from found
            return
