"""The file by which an agent finds Odin: readable by the user alone, there as long as the door is open."""

import json
import os
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from odin_lsp import private_files, system
from odin_lsp.errors import SessionError
from odin_lsp.values import is_object

NAME = "Odin"
"""What Odin calls itself there; with the editor behind it."""
MAX_OTHERS = 1000


@contextmanager
def announced(path: Path, content: Mapping[str, Any]) -> Generator[None]:
    """`OSError` or `SessionError` says why it cannot be."""
    place = Path(os.path.realpath(path.parent.parent), path.parent.name, path.name)
    private_files.write_file(place, [json.dumps(content).encode()], durable=False)
    try:
        yield
    finally:
        with suppress(OSError):
            place.unlink(missing_ok=True)


def remove_stale(folder: Path, pattern: str, owner: Callable[[Path, Mapping[str, Any]], int | None]) -> None:
    """Those that an Odin has left which was killed. `owner`: the process that has written it, if that was an Odin."""
    with suppress(OSError):
        for path in sorted(folder.glob(pattern))[:MAX_OTHERS]:
            said = private_files.read_json(path)
            pid = owner(path, said) if is_object(said) else None
            if pid is not None and not system.is_alive(pid):
                path.unlink(missing_ok=True)


CANNOT = (OSError, SessionError)
"""What keeps a door shut."""
