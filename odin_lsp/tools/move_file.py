"""Rename a file or a folder."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from odin_lsp.errors import ToolError
from odin_lsp.permissions.rules import Effect
from odin_lsp.review.proposals import Wish, operation_of
from odin_lsp.tools.base import Params, Tool, ToolContext, ToolOutput
from odin_lsp.tools.editing import carry_out
from odin_lsp.tools.missing import missing
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.hits import Hit
from odin_lsp.workspace.search import Query

MAX_NAMED = 20
PYTHON = ("py", "pyi")
SCRIPTS = ("js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "vue", "svelte")
CALLED_BY_THEIR_FOLDER = ("__init__", "index")


class MoveFileParams(Params):
    file_path: str
    new_path: str
    """It must not exist."""


class MoveFile(Tool[MoveFileParams]):
    """Rename or move a file or folder. The result names lines that seem to import it."""

    name = "MoveFile"
    effect = Effect.MUTATING
    params = MoveFileParams

    def describe(self, params: MoveFileParams) -> str:
        return f"move {params.file_path} to {params.new_path}"

    async def execute(self, params: MoveFileParams, context: ToolContext) -> ToolOutput:
        path, new_path = await context.reach(params.file_path), await context.reach(params.new_path)
        await context.draft.settle(path)
        if not path.exists():
            raise await missing(path, context)
        if new_path.exists():
            raise ToolError(f"{new_path} exists already; choose another name or delete it first")
        queries = list(_imports(path, is_folder=path.is_dir()))
        wish = Wish(context.call_id, f"move {context.files.shown(path)}")
        output = await carry_out(operation_of(path, "rename", wish=wish, new_path=new_path), context)
        context.shown.move(path, new_path)
        lines = [it for query in queries for it in await _lines(query, context)]
        return replace(output, data="\n".join([output.data, _told(lines, context.files)])) if lines else output


def _imports(path: Path, *, is_folder: bool) -> Iterator[Query]:
    """Searches for lines that import what is there, by its name alone."""
    name = path.parent.name if path.stem in CALLED_BY_THEIR_FOLDER else path.name if is_folder else path.stem
    suffix = path.suffix.removeprefix(".").lower()
    if (is_folder or suffix in PYTHON) and name.isidentifier():
        yield Query(pattern=rf"^\s*(?:from|import)\b.*\b{name}\b", output_mode="content", glob=_named(PYTHON))
    if (is_folder or suffix in SCRIPTS) and re.fullmatch(r"[\w.-]+", name):
        text = rf"""["'](?:[^"']*/)?{re.escape(name)}(?:\.\w+|/[^"']*)?["']"""
        pattern = rf"\b(?:from|import|require)\b.*{text}"
        yield Query(pattern=pattern, output_mode="content", glob=_named(SCRIPTS))


def _named(suffixes: tuple[str, ...]) -> str:
    return f"*.{{{','.join(suffixes)}}}"


async def _lines(query: Query, context: ToolContext) -> list[Hit]:
    roots = context.files.vouching_roots
    found = [await context.search.grep(query, root, context.draft.texts) for root in roots]
    return [hit for hits, _ in found for hit in hits]


def _told(hits: list[Hit], files: Files) -> str:
    lines = [f"{files.shown(hit.path)}:{hit.line}" for hit in hits[:MAX_NAMED]]
    more = f" (+{len(hits) - MAX_NAMED} more)" if len(hits) > MAX_NAMED else ""
    return f"Lines that seem to import it, and may have to be changed: {', '.join(lines)}{more}"
