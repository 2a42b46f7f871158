"""An Odin that is killed while it changes files, or while it removes what it has kept of them.

A process of its own: `python -m tests.support.undo_killer FOLDER MOMENT CALL`, where the call is one of `CALLS` and the
moment `before` or `after` the editor has carried it out; or `… FOLDER removing NUMBER`, of the removal.
"""

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any, NoReturn

from odin_lsp.config import ReviewSettings
from odin_lsp.ports import FileChange
from odin_lsp.review.undo_log import UndoLog
from odin_lsp.review.undo_steps import new_step
from tests.support.reviewing import Bench

OLD = "one\ntwo\nthree\n"
CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "edit": ("EditTool", {"file_path": "b.txt", "old_string": "two", "new_string": "TWO"}),
    "edit again": ("EditTool", {"file_path": "a.txt", "old_string": "three", "new_string": "THREE"}),
    "create": ("WriteFile", {"file_path": "new.txt", "content": "new\n"}),
    "delete": ("DeleteFile", {"file_path": "b.txt"}),
    "move": ("MoveFile", {"file_path": "b.txt", "new_path": "c.txt"}),
}


def main() -> None:
    folder, moment, what = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    asyncio.run(remove(folder, int(what)) if moment == "removing" else change(folder, moment, what))


async def change(folder: Path, moment: str, what: str) -> None:
    bench = Bench(folder, policy="auto")
    a, b = bench.write("a.txt", OLD), bench.write("b.txt", OLD)
    await bench.read(a, b)
    await bench.edit(a, "two", "TWO")
    carry_out = bench.editor.apply

    async def killed(it: FileChange) -> NoReturn:
        if moment == "after":
            await carry_out(it)
        die()

    bench.editor.apply = killed
    name, arguments = CALLS[what]
    paths = {key: bench.root / it for key, it in arguments.items() if key.endswith("path")}
    await bench.use(name, **arguments | paths)


async def remove(folder: Path, number: int) -> None:
    """One turn more than may be kept."""
    unlink = Path.unlink
    removals = iter(range(1, 1000))

    def killing(path: Path, missing_ok: bool = False) -> None:
        unlink(path, missing_ok=missing_ok)
        if next(removals) == number:
            die()

    Path.unlink = killing
    log = UndoLog(lambda: folder, lambda: ReviewSettings(undoDays=1))
    await log.intend("new", new_step(folder / "a.txt", "edit"), "new", ["after"])


def die() -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


if __name__ == "__main__":
    main()
