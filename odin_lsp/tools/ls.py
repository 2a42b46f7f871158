"""List a directory."""

import os
from fnmatch import fnmatch
from pathlib import Path

from odin_lsp.errors import ToolError
from odin_lsp.permissions.rules import Effect
from odin_lsp.tools.base import Params, Tool, ToolContext, ToolOutput, clipped
from odin_lsp.workspace.ignore import is_secret


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
        folder = context.files.resolve(params.path)
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except NotADirectoryError:
            raise ToolError(f"{folder} is a file; use Read") from None
        except OSError as error:
            raise ToolError(f"{folder} cannot be listed: {error.strerror}") from None
        shown = [entry for entry in entries if not self._hidden(entry.name, params.ignore)]
        cached = {path for path, _ in context.files.cache.files()}
        lines = [f"- {_line(entry, cached)}" for entry in shown]
        return ToolOutput(
            data=clipped(lines, "entries") or "(empty)",
            description=f"{len(shown)} entries in {context.files.shown(folder)}",
        )

    def _hidden(self, name: str, ignore: tuple[str, ...]) -> bool:
        return name == ".git" or is_secret(Path(name)) or any(fnmatch(name, glob) for glob in ignore)


def _line(entry: os.DirEntry[str], cached: set[Path]) -> str:
    name = entry.name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return name + ("/" if entry.is_dir() else " (cached)" if Path(entry.path) in cached else "")
