"""List a directory."""

import os
from fnmatch import fnmatch
from itertools import islice
from pathlib import Path

from odin_lsp.errors import ToolError
from odin_lsp.permissions.rules import Effect
from odin_lsp.tools.base import Params, Tool, ToolContext, ToolOutput, clipped, marks
from odin_lsp.workspace.uris import printable

MAX_ENTRIES = 10_000


class LSParams(Params):
    path: str
    """Absolute path of the directory."""
    ignore: tuple[str, ...] = ()
    """Globs of names to leave out."""


class LS(Tool[LSParams]):
    """List the files and folders directly below a directory. To find files by name, use Glob; by content, Grep."""

    name = "LS"
    effect = Effect.READ_ONLY
    params = LSParams

    def describe(self, params: LSParams) -> str:
        return f"list {params.path}"

    async def execute(self, params: LSParams, context: ToolContext) -> ToolOutput:
        folder = await context.reach(params.path)
        try:
            with os.scandir(folder) as scan:
                entries = sorted(islice(scan, MAX_ENTRIES + 1), key=lambda entry: entry.name)
        except NotADirectoryError:
            raise ToolError(f"{printable(str(folder))} is a file; use Read") from None
        except OSError as error:
            raise ToolError(f"{printable(str(folder))} cannot be listed: {error.strerror}") from None
        more = [f"(more than {MAX_ENTRIES:,} entries; use Glob)"] if len(entries) > MAX_ENTRIES else []
        lines = [
            f"- {printable(entry.name)}{_mark(entry, context)}"
            for entry in entries[:MAX_ENTRIES]
            if not self._hidden(entry, params.ignore, context)
        ]
        return ToolOutput(
            data=clipped([*lines, *more], "entries") or "(empty)",
            description=f"{len(lines)} entries in {context.files.shown(folder)}",
        )

    def _hidden(self, entry: os.DirEntry[str], ignore: tuple[str, ...], context: ToolContext) -> bool:
        left_out = entry.name == ".git" or any(fnmatch(entry.name, glob) for glob in ignore)
        return left_out or context.files.ignore.hides(Path(entry.path))


def _mark(entry: os.DirEntry[str], context: ToolContext) -> str:
    return "/" if entry.is_dir(follow_symlinks=False) else marks(Path(entry.path), context)
