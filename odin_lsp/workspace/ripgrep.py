"""Which ripgrep is run."""

import os
import shutil
import sysconfig
from collections.abc import Sequence
from pathlib import Path


def find_ripgrep(roots: Sequence[Path]) -> Path | None:
    """The ripgrep that came with Odin, or one on the PATH; never a file of the workspace."""
    folders = [sysconfig.get_path("scripts"), *os.environ.get("PATH", "").split(os.pathsep)]
    for folder in folders:
        found = shutil.which("rg", path=folder) if Path(folder).is_absolute() else None
        if found and not any(Path(found).resolve().is_relative_to(root) for root in roots if folder != folders[0]):
            return Path(found)
    return None
