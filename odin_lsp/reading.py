"""How files are read that somebody else has put there: regular ones only, and not more of them than is wanted."""

import os
import stat
from pathlib import Path

from odin_lsp import system


def start_of(path: Path | str, most: int) -> bytes | None:
    """At most so many bytes of a file, or of what a link leads to; `None` for what is no regular file: a pipe would
    never end, and a device might act. An `OSError` where there is nothing, or nothing that may be read."""
    if not is_regular(os.stat(path)):  # noqa: PTH116 - called for every folder of every hit
        return None
    with os.fdopen(os.open(path, os.O_RDONLY | system.NO_WAIT | system.OWN), "rb") as file:
        return file.read(most) if is_regular(os.fstat(file.fileno())) else None


def is_regular(status: os.stat_result) -> bool:
    return stat.S_ISREG(status.st_mode)
