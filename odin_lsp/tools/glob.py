"""Find files by name."""

from pathlib import Path

from odin_lsp.errors import ToolError
from odin_lsp.permissions.rules import Effect
from odin_lsp.tools.base import Params, Tool, ToolContext, ToolOutput, clipped, marks
from odin_lsp.workspace.globs import MAX_PATTERN_CHARS, as_text, braces, compiled
from odin_lsp.workspace.uris import printable


class GlobParams(Params):
    pattern: str
    """Such as `**/*.py` or `src/*.{ts,tsx}`, relative to `path`."""
    path: str | None = None
    """Folder; default: the workspace."""


class Glob(Tool[GlobParams]):
    """Find files by name, newest first. `**` crosses folders. Skips what .gitignore excludes."""

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
        found, notes = await _found(params.pattern, params.path, context)
        found.sort(key=lambda path: (-_modified(path), str(path)))
        listed = [*(context.files.shown(path) + marks(path, context) for path in found), *notes]
        return ToolOutput(
            data=clipped(listed, "files") or await _nothing(params, context),
            description=f"found {len(found)} file{'' if len(found) == 1 else 's'} for {params.pattern}",
        )


async def _found(pattern: str, path: str | None, context: ToolContext) -> tuple[list[Path], list[str]]:
    try:
        wanted = compiled(f"/{it.lstrip('/')}" for it in braces(pattern))
    except ValueError as error:
        raise ToolError(f"{printable(pattern)} is not a pattern: {error}") from None
    found, notes = list[Path](), list[str]()
    for folder in await context.folders(path):
        paths, complete = await context.search.files(folder)
        found += [path for path in paths if wanted.match_file(as_text(path.relative_to(folder).as_posix()))]
        notes += [] if complete else ["(there are more files than could be listed; search a folder further down)"]
    return found, notes


async def _nothing(params: GlobParams, context: ToolContext) -> str:
    """And whether there is something further down."""
    deeper = f"**/{params.pattern.lstrip('/')}"
    count = 0 if "**" in params.pattern else len((await _found(deeper, params.path, context))[0])
    files = "1 file" if count == 1 else f"{count} files"
    return f"No files found; `{printable(deeper)}` finds {files} further down" if count else "No files found"


def _modified(path: Path) -> int:
    try:
        return path.lstat().st_mtime_ns
    except OSError:
        return 0
