"""List a directory."""

from fnmatch import fnmatch
from pathlib import Path

from odin_lsp.permissions.rules import Effect
from odin_lsp.tools.base import Params, Tool, ToolContext, ToolOutput, clipped, marks
from odin_lsp.workspace.opening import entries
from odin_lsp.workspace.uris import printable

MAX_ENTRIES = 10_000


class LSParams(Params):
    path: str
    ignore: tuple[str, ...] = ()
    """Globs of names to leave out."""


class LS(Tool[LSParams]):
    """List the files and folders directly below a folder."""

    name = "LS"
    effect = Effect.READ_ONLY
    params = LSParams

    def describe(self, params: LSParams) -> str:
        return f"list {params.path}"

    async def execute(self, params: LSParams, context: ToolContext) -> ToolOutput:
        folder = await context.reach(params.path)
        names = entries(folder, MAX_ENTRIES + 1)
        more = [f"(more than {MAX_ENTRIES:,} entries; use Glob)"] if len(names) > MAX_ENTRIES else []
        lines = [
            f"- {printable(name)}{'/' if is_folder else marks(folder / name, context)}"
            for name, is_folder in names[:MAX_ENTRIES]
            if not _left_out(folder / name, params.ignore, context)
        ]
        return ToolOutput(
            data=clipped([*lines, *more], "entries") or "(empty)",
            description=f"{len(lines)} entries in {context.files.shown(folder)}",
        )


def _left_out(path: Path, ignore: tuple[str, ...], context: ToolContext) -> bool:
    return path.name == ".git" or any(fnmatch(path.name, glob) for glob in ignore) or context.files.ignore.hides(path)
