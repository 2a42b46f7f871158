"""Find files by name."""

import asyncio
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from odin_lsp.errors import ToolError
from odin_lsp.permissions.rules import Effect
from odin_lsp.tools.base import MAX_RESULT_CHARS, Params, Tool, ToolContext, ToolOutput
from odin_lsp.tools.listing import clipped, marks
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.globs import MAX_PATTERN_CHARS, NamePattern
from odin_lsp.workspace.name_list import FileNames, newest
from odin_lsp.workspace.uris import printable


class GlobParams(Params):
    pattern: str
    """Such as `**/*.py` or `src/*.{ts,tsx}`, relative to `path`."""
    path: str | None = None
    """Folder; default: the workspace."""


class Glob(Tool[GlobParams]):
    """Find files by name, newest first. `**` crosses folders. Skips what .gitignore excludes.
    For text in files use Grep; for several rounds AgentTool, if you have it."""

    name = "Glob"
    effect = Effect.READ_ONLY
    params = GlobParams

    def describe(self, params: GlobParams) -> str:
        return f"find {params.pattern}"

    async def execute(self, params: GlobParams, context: ToolContext) -> ToolOutput:
        if not params.pattern.strip():
            raise ToolError("the pattern is empty; `**/*` finds everything")
        if len(params.pattern) > MAX_PATTERN_CHARS:
            raise ToolError(f"the pattern is longer than {MAX_PATTERN_CHARS} characters")
        found = await _found(params.pattern, params.path, context)
        count = sum(len(it.names) for it in found)
        is_whole = all(it.is_whole for it in found)
        notes = [] if is_whole else ["(there are more files than could be listed; search a folder further down)"]
        named = await asyncio.to_thread(_newest, found, context.files)
        lines = (name + marks(path, context) for path, name in named)
        return ToolOutput(
            data=clipped(chain(lines, notes), count + len(notes), "files") or await _nothing(params, context),
            description=f"found {count} file{'' if count == 1 else 's'} for {params.pattern}",
        )


async def _found(pattern: str, path: str | None, context: ToolContext) -> list[FileNames]:
    try:
        wanted = await asyncio.to_thread(NamePattern, pattern)
    except ValueError as error:
        raise ToolError(f"{printable(pattern)} is not a pattern: {error}") from None
    return [await context.search.files(folder, wanted) for folder in await context.folders(path)]


def _newest(found: Sequence[FileNames], files: Files) -> list[tuple[Path, str]]:
    """As many as can be shown, the newest first, and what they are called."""
    shortest = min((len(name) for it in found for name in it.names), default=0)
    return [(path, files.shown(path)) for path in newest(found, MAX_RESULT_CHARS // (shortest + 1) + 1)]


async def _nothing(params: GlobParams, context: ToolContext) -> str:
    """And whether there is something further down."""
    deeper = f"**/{params.pattern.lstrip('/')}"
    found = [] if "**" in params.pattern else await _found(deeper, params.path, context)
    count = sum(len(it.names) for it in found)
    files = "1 file" if count == 1 else f"{count} files"
    return f"No files found; `{printable(deeper)}` finds {files} further down" if count else "No files found"
