"""Files that are not there, and which ones may be meant."""

import asyncio
import os
from difflib import get_close_matches
from itertools import islice
from pathlib import Path, PurePath

from odin_lsp.errors import ToolError
from odin_lsp.tools.base import ToolContext
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.uris import printable

MAX_BESIDE = 2_000
"""Names that the missing one is compared with."""


async def missing(path: Path, context: ToolContext, advice: str = "") -> ToolError:
    """What to say of a name that leads nowhere. Without advice: how to find the file."""
    advice = advice or f"Glob with `**/{printable(path.name)}` finds it elsewhere"
    meant = await asyncio.to_thread(_meant, path, context.files)
    return ToolError(f"{context.files.shown(path)} does not exist{meant}; {advice}")


def _meant(path: Path, files: Files) -> str:
    """A file of the workspace where it would be that is called nearly so. The model gets to know of no hidden ones."""
    if not files.contains(path):
        return ""
    try:
        with os.scandir(path.parent) as scan:
            beside = [it.name for it in islice(scan, MAX_BESIDE)]
    except OSError:
        return ""
    folder = path.parent.as_posix().rstrip("/")
    [known] = files.ignore.visible(folder, {"": beside}).values()
    stems = {name: PurePath(name).stem for name in known}
    similar = get_close_matches(path.stem, set(stems.values()))  # that both end in `.txt` says nothing
    close = get_close_matches(path.name, [name for name, stem in stems.items() if stem in similar], n=1, cutoff=0)
    return f" (did you mean {printable(str(path.with_name(close[0])))}?)" if close else ""
