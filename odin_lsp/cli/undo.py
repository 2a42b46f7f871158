"""`odin-lsp undo`: revert what a turn has changed, and bring it back."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from odin_lsp.display import shown_line
from odin_lsp.printing import say
from odin_lsp.tasks import run_to_end

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from odin_lsp.terminal.seam import Undone

NOTHING = "odin: there is nothing to undo"
LEFT = 1


def add_arguments(parser: "ArgumentParser", folder: Any) -> None:
    """`folder` is the type of an option that names one."""
    parser.add_argument(
        "id", nargs="?", help="a turn, or an undo to bring back what it reverted; without it: the last turn"
    )
    parser.add_argument("--file", type=Path, help="only the changes of this file")
    parser.add_argument("--cwd", type=folder, default=".", help="the workspace")


def run(options: "Namespace") -> int:
    undone = run_to_end(_undone(options))
    for it in undone.restored:
        say(f"restored {_shown(it, options.cwd)}")
    for it in undone.kept:
        say(f"kept {_shown(it.path, options.cwd)}: {it.reason}")
    if undone.undo_id is not None:
        say(f"to bring this back: odin-lsp undo {undone.undo_id}")
    if not undone.restored and not undone.kept:
        say(NOTHING)
    return 0 if undone.restored else LEFT


async def _undone(options: "Namespace") -> "Undone":
    """In the editor that has the workspace open, if one has: the text may not be saved."""
    from odin_lsp.terminal.opening import opened

    path = (options.cwd / options.file).resolve() if options.file else None
    async with opened(options.cwd, {}, "yes", starts=False) as (workspace, _):
        return await workspace.undo(options.id, path)


def _shown(path: Path, folder: Path) -> str:
    return shown_line(str(path.relative_to(folder) if path.is_relative_to(folder) else path))
