"""Which ripgrep is run, what it can be asked, and what it says where it fails."""

import os
import re
import shutil
import sysconfig
from collections.abc import Sequence
from pathlib import Path

from odin_lsp.errors import ToolError

MAX_ARGUMENT_CHARS = 20_000
_BAD_PATTERN = re.compile(r"regex parse error:.*^error: ([^\n]+)", re.DOTALL | re.MULTILINE)


def find_ripgrep(roots: Sequence[Path]) -> Path | None:
    """The ripgrep that came with Odin, or one on the PATH; never a file of the workspace."""
    folders = [sysconfig.get_path("scripts"), *os.environ.get("PATH", "").split(os.pathsep)]
    for folder in folders:
        found = shutil.which("rg", path=folder) if Path(folder).is_absolute() else None
        if found and not any(Path(found).resolve().is_relative_to(root) for root in roots if folder != folders[0]):
            return Path(found)
    return None


def explained(problem: str) -> str:
    """Why a search failed: without the pattern, which ripgrep quotes in a group that nobody wrote."""
    found = _BAD_PATTERN.search(problem)
    if found is None:
        return f"the search failed: {problem}"
    way_out = "write it without" if "not supported" in found[1] else "put a backslash before what stands for itself"
    return f"the pattern is no regular expression that can be searched for: {found[1]}; {way_out}"


def check_arguments(*texts: str) -> None:
    """Raise a `ToolError` for a pattern that ripgrep cannot be given."""
    for text in texts:
        if len(text) > MAX_ARGUMENT_CHARS:
            raise ToolError(f"a pattern is longer than {MAX_ARGUMENT_CHARS:,} characters")
        if any("\ud800" <= character <= "\udfff" for character in text):
            raise ToolError("a pattern that is not valid Unicode cannot be searched for")
