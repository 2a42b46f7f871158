"""Files that are not there, and which ones may be meant."""

from difflib import get_close_matches
from pathlib import Path

from odin_lsp.errors import ToolError
from odin_lsp.tools.base import ToolContext
from odin_lsp.workspace.uris import printable


def missing(path: Path, context: ToolContext, advice: str = "") -> ToolError:
    """What to say of a name that leads nowhere. Without advice: how to find the file."""
    advice = advice or f"Glob with `**/{printable(path.name)}` finds it elsewhere"
    return ToolError(f"{context.files.shown(path)} does not exist{_meant(path, context)}; {advice}")


def _meant(path: Path, context: ToolContext) -> str:
    """A file of the workspace where it would be that is called nearly so. The model gets to know of no hidden ones."""
    if not context.files.contains(path):
        return ""
    try:
        beside = list(path.parent.iterdir()) if path.parent.is_dir() else []
    except OSError:
        return ""
    known = [it for it in beside if not context.files.ignore.hides(it)]
    stems = get_close_matches(path.stem, {it.stem for it in known})  # that both end in `.txt` says nothing
    close = get_close_matches(path.name, [it.name for it in known if it.stem in stems], n=1, cutoff=0)
    return f" (did you mean {printable(str(path.with_name(close[0])))}?)" if close else ""
