"""Lookup of problems: what language servers find wrong with a file, a folder or the workspace."""

import asyncio
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path

from odin_lsp.errors import ToolError
from odin_lsp.intelligence.grammars import LANGUAGES
from odin_lsp.intelligence.problems import diagnostic, ordered
from odin_lsp.intelligence.servers import Problem, Problems
from odin_lsp.tools.base import ToolContext, ToolOutput
from odin_lsp.tools.listing import clipped
from odin_lsp.workspace.name_list import FileNames, suffix_of

PATIENCE = 10.0
"""Seconds for what servers find."""
MAX_FILES = 50
"""Of a folder that servers are asked about; of a larger one they are not made to read all."""
MAX_NAMED = 20
LISTED = ("error", "warning")
NOBODY = "no language server is there that tells of problems; run the project's own checks"
DRAFTED = "(your edits that wait for review are not in the text that was checked)"


async def known_problems(path: Path | None, context: ToolContext) -> ToolOutput:
    """Of a file, a folder, or without a path of all."""
    is_file = path is not None and not path.is_dir()
    paths, is_all = ([path], True) if path is not None and is_file else await _files(path, context)
    found = dict(await context.servers.problems(paths, PATIENCE)) if paths else {}
    if not is_file:
        found = {**await _reported(path, context), **found}
    if not found:
        raise ToolError(NOBODY)
    current = {it: problems.found for it, problems in found.items() if problems.is_current}
    unknown = [it for it, problems in found.items() if not problems.is_current]
    lines = _listed(current, context)
    checked = f"{len(current)} file{'' if len(current) == 1 else 's'} checked"
    notes = [] if lines else [f"no errors or warnings; {checked}"]
    if unknown:
        names = ", ".join(map(context.files.shown, unknown[:MAX_NAMED]))
        notes.append(
            f"(not known yet: {names}{f' and {len(unknown) - MAX_NAMED} more' if unknown[MAX_NAMED:] else ''})"
        )
    notes += (
        [] if is_all else [f"({checked}: those that are open or were asked about; name a file or a smaller folder)"]
    )
    notes += [DRAFTED] if context.draft.texts.keys() & found.keys() else []
    about = context.files.shown(path) if path is not None else "the workspace"
    count = f"{len(lines) or 'no'} problem{'' if len(lines) == 1 else 's'}"
    told = [*lines, *notes]
    return ToolOutput(data=clipped(told, len(told), "lines"), description=f"{count} in {about}")


async def _files(folder: Path | None, context: ToolContext) -> tuple[list[Path], bool]:
    """Those to ask about, and whether these are all that there are in languages that somebody may know."""
    found: list[Path] = []
    is_all = True
    for root in [folder] if folder is not None else context.files.vouching_roots:
        listed = await context.search.files(root)
        found += await asyncio.to_thread(_known, listed)
        is_all = is_all and listed.is_whole
    return (found, is_all) if len(found) <= MAX_FILES else ([], False)


def _known(listed: FileNames) -> list[Path]:
    """Those in languages that somebody may know, or more of them than are asked about."""
    known = (name for name in listed.names if suffix_of(name) in LANGUAGES)
    return [listed.folder / name for name in islice(known, MAX_FILES + 1)]


async def _reported(folder: Path | None, context: ToolContext) -> Mapping[Path, Problems]:
    """What is known already, of files that the model may know of."""
    known = await context.servers.problems((), 0)
    files = context.files
    return {
        path: it
        for path, it in known.items()
        if (folder is None or path.is_relative_to(folder)) and files.contains(path) and not files.ignore.hides(path)
    }


def _listed(found: Mapping[Path, Sequence[Problem]], context: ToolContext) -> list[str]:
    """The errors of all files, then the warnings."""
    problems = [(path, it) for path in sorted(found) for it in ordered(found[path]) if it.severity in LISTED]
    problems.sort(key=lambda it: LISTED.index(it[1].severity))
    return [f"{context.files.shown(path)}:{diagnostic(it, '').words}" for path, it in problems]
