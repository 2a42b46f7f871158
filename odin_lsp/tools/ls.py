"""List a directory."""

import asyncio
from fnmatch import fnmatch
from itertools import chain
from pathlib import Path

from odin_lsp.permissions.rules import Effect
from odin_lsp.tools.base import Params, Tool, ToolContext, ToolOutput
from odin_lsp.tools.listing import clipped, marks
from odin_lsp.workspace.ignore import Ignore
from odin_lsp.workspace.opening import entries
from odin_lsp.workspace.uris import printable

MAX_ENTRIES = 10_000


class LSParams(Params):
    path: str
    ignore: tuple[str, ...] = ()
    """Globs of names to leave out."""


class LS(Tool[LSParams]):
    """List the files and folders directly below a folder. Prefer Glob and Grep if you know what you look for."""

    name = "LS"
    effect = Effect.READ_ONLY
    params = LSParams

    def describe(self, params: LSParams) -> str:
        return f"list {params.path}"

    async def execute(self, params: LSParams, context: ToolContext) -> ToolOutput:
        folder = await context.reach(params.path)
        named, is_whole = await asyncio.to_thread(_entries, folder, params.ignore, context.files.ignore)
        more = [] if is_whole else [f"(more than {MAX_ENTRIES:,} entries; use Glob)"]
        lines = (
            f"- {printable(name)}{'/' if is_folder else marks(folder / name, context)}" for name, is_folder in named
        )
        return ToolOutput(
            data=clipped(chain(lines, more), len(named) + len(more), "entries") or "(empty)",
            description=f"{len(named)} entries in {context.files.shown(folder)}",
        )


def _entries(folder: Path, left_out: tuple[str, ...], ignore: Ignore) -> tuple[list[tuple[str, bool]], bool]:
    """Names and whether they are folders; and whether these are all."""
    found = entries(folder, MAX_ENTRIES + 1)
    hidden = {".git", *ignore.hidden_in(folder.as_posix().rstrip("/"), (name for name, _ in found))}
    named = [
        (name, is_folder)
        for name, is_folder in found[:MAX_ENTRIES]
        if name not in hidden and not any(fnmatch(name, glob) for glob in left_out)
    ]
    return named, len(found) <= MAX_ENTRIES
