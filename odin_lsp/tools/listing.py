"""Lists, as a model is shown them."""

from collections.abc import Iterable
from pathlib import Path

from odin_lsp.tools.base import MAX_RESULT_CHARS, ToolContext


def marks(path: Path, context: ToolContext) -> str:
    """What is special about a file in a list: held in memory, not saved yet."""
    buffer = context.files.buffers.of_path(path)
    unsaved = buffer is not None and buffer.unsaved
    return (" (cached)" if path in context.files.cache else "") + (" (unsaved)" if unsaved else "")


def clipped(lines: Iterable[str], count: int, what: str) -> str:
    """So many lines as one text inside the bound, with a note on what was left out. What is, nobody asks for."""
    size = 0
    kept: list[str] = []
    for line in lines:
        size += len(line) + 1
        if size > MAX_RESULT_CHARS:
            return "\n".join([*kept, f"({count - len(kept)} more {what}; narrow the search)"])
        kept.append(line)
    return "\n".join(kept)
