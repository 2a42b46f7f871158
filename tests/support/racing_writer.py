"""An Odin in a terminal that adds lines to a file while others do.

A process of its own: `python -m tests.support.racing_writer FILE NAME TIMES`. It prints how many changes it has made,
as far as it was told."""

import asyncio
import sys
from pathlib import Path

from odin_lsp.ports import FileChange, Position, Range, TextReplacement
from odin_lsp.terminal.editor import TerminalEditor


async def main() -> None:
    path, name, times = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    editor, made = TerminalEditor("yes"), 0
    for number in range(times):
        before = path.read_text()
        here = Position(before.count("\n") // 2, 0)
        edit = TextReplacement(Range(here, here), f"{name} {number}\n")
        change = FileChange(uri=path.as_uri(), version=None, operation="edit", edits=(edit,), before=before)
        made += await editor.apply(change) is None
    sys.stdout.write(str(made))


if __name__ == "__main__":
    asyncio.run(main())
