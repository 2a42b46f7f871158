"""What the user no longer wants to be asked about: one private file in the user's state folder."""

import fcntl
import hashlib
import json
import os
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

import platformdirs

from odin_lsp.values import is_list, is_object

MAX_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Approval:
    tool: str
    pattern: str
    """The words that a command starts with."""
    workspace: str | None
    """The folder it is for; none: all of them."""
    when: str

    @property
    def id(self) -> str:
        """Short, for `odin-lsp permissions remove`."""
        return hashlib.sha256(json.dumps([self.tool, self.pattern, self.workspace]).encode()).hexdigest()[:8]


def approvals_file() -> Path:
    return Path(platformdirs.user_state_dir("odin", appauthor=False)) / "approvals.json"


class Approvals:
    """Read anew whenever it is asked: what another process adds or removes counts at once."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path or approvals_file()

    def all(self) -> tuple[Approval, ...]:
        """What can be read. A file that others could have written approves nothing."""
        try:
            descriptor = os.open(self._path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor, no path
                status = os.fstat(descriptor)
                if status.st_uid != os.getuid() or status.st_mode & 0o022:
                    return ()
                stored = json.loads(file.read(MAX_BYTES))
        except (OSError, ValueError, RecursionError):
            return ()
        return tuple(filter(None, map(_approval, stored))) if is_list(stored) else ()

    def patterns(self, tool: str, workspace: Path) -> tuple[str, ...]:
        """For `Rules.of`."""
        return tuple(
            it.pattern for it in self.all() if it.tool == tool and it.workspace in (None, str(workspace.resolve()))
        )

    def add(self, tool: str, pattern: str, workspace: Path | None) -> Approval:
        where = str(workspace.resolve()) if workspace is not None else None
        new = Approval(tool, pattern, where, datetime.now(UTC).isoformat(timespec="seconds"))
        with self._locked():
            self._write([*(it for it in self.all() if it.id != new.id), new])
        return new

    def remove(self, approval_id: str) -> Approval | None:
        """The one that is gone now, if there was one."""
        with self._locked():
            before = self.all()
            found = next((it for it in before if it.id == approval_id), None)
            if found is not None:
                self._write([it for it in before if it != found])
        return found

    @contextmanager
    def _locked(self) -> Generator[None]:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(self._path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)

    def _write(self, approvals: Sequence[Approval]) -> None:
        descriptor, name = tempfile.mkstemp(prefix=".approvals-", dir=self._path.parent)
        try:
            with open(descriptor, "w", encoding="utf-8") as file:  # noqa: PTH123 - a descriptor, no path
                json.dump([asdict(it) for it in approvals], file, indent=1)
                file.flush()
                os.fsync(descriptor)
            Path(name).replace(self._path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise


def _approval(stored: object) -> Approval | None:
    if not is_object(stored) or stored.keys() != set(Approval.__dataclass_fields__):
        return None
    texts = (stored["tool"], stored["pattern"], stored["when"])
    if not all(isinstance(text, str) for text in texts) or not isinstance(stored["workspace"], str | None):
        return None
    return Approval(**stored)
