"""Small JSON files in the user's state folder that only the user may write: what was approved, what is trusted."""

import json
import os
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

from odin_lsp import locks, state

MAX_BYTES = 1024 * 1024


def state_file(name: str) -> Path:
    return state.folder() / name


def read(path: Path) -> Any:
    """What is stored; `None` if there is nothing, or nothing that can be relied on: others could have written it."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor, no path
            status = os.fstat(descriptor)
            if status.st_uid != os.getuid() or status.st_mode & 0o022:
                return None
            return json.loads(file.read(MAX_BYTES))
    except (OSError, ValueError, RecursionError):
        return None


def update(path: Path, change: Callable[[Any], Any]) -> None:
    """Store what `change` makes of what is stored. Nobody sees half of it, and no other process's change is lost.

    An `OSError` says why it cannot be stored."""
    with locks.held(path.with_suffix(".lock")):
        _write(path, change(read(path)))


def _write(path: Path, values: Any) -> None:
    draft = path.with_name(f".{path.stem}-{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with open(descriptor, "w", encoding="utf-8") as file:  # noqa: PTH123 - a descriptor, no path
            json.dump(values, file, indent=1)
            file.flush()
            os.fsync(descriptor)
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
