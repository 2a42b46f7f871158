"""The only code that opens files of the workspace; every path passes through `resolve`."""

import errno
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from odin_lsp.errors import PermissionDenied, ToolError
from odin_lsp.workspace.buffers import Buffers
from odin_lsp.workspace.cache import FileCache, stamp_of
from odin_lsp.workspace.ignore import is_secret
from odin_lsp.workspace.text import decode

MAX_READ_BYTES = 50 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class FileText:
    path: Path
    text: str
    unsaved: bool


class Files:
    def __init__(self, roots: Sequence[Path], buffers: Buffers, cache: FileCache) -> None:
        self.roots: tuple[Path, ...] = tuple(root.resolve() for root in roots)
        self.buffers = buffers
        self.cache = cache

    def resolve(self, name: str) -> Path:
        """The canonical path of `name`, which must be absolute, inside the workspace and no secret."""
        if not name or name in ("undefined", "null"):
            raise ToolError("the path is missing; leave it out or give an absolute path")
        if "\0" in name:
            raise ToolError("a path cannot contain a NUL character")
        path = Path(name)
        if not path.is_absolute():
            suggestion = f"; did you mean {self.roots[0] / path}?" if self.roots else ""
            raise ToolError(f"{name} is not an absolute path{suggestion}")
        try:
            real = path.resolve()
            real.lstat()
        except FileNotFoundError:
            real = path.resolve()
        except RuntimeError:
            raise ToolError(f"{name} is a loop of symbolic links") from None
        except OSError as error:
            raise ToolError(f"{name} cannot be opened: {error.strerror}") from None
        if not self.contains(real):
            where = f" (it leads to {real})" if real != path else ""
            raise PermissionDenied(f"{name} is outside the workspace folders{where}")
        if is_secret(real) or is_secret(path):
            raise PermissionDenied(f"{name} may hold secrets and is not read")
        return real

    def contains(self, path: Path) -> bool:
        return any(path.is_relative_to(root) for root in self.roots)

    def shown(self, path: Path) -> str:
        """The path as people in this workspace call it."""
        inside = [path.relative_to(root) for root in self.roots if path.is_relative_to(root)]
        return str(min(inside, key=lambda it: len(it.parts), default=path)) if len(self.roots) == 1 else str(path)

    def read(self, path: Path) -> FileText:
        """What the user sees of the file: its buffer if it is open, else the disk. `path` must be resolved."""
        if buffer := self.buffers.of_path(path):
            return FileText(path, buffer.text, buffer.unsaved)
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError as error:
            raise ToolError(_explain(path, error)) from None
        try:
            status = os.fstat(descriptor)
            _check_kind(path, status)
            if cached := self.cache.get(path, stamp_of(status)):
                return FileText(path, cached.text, unsaved=False)
            with open(descriptor, "rb", closefd=False) as file:
                data = file.read()
        finally:
            os.close(descriptor)
        content = decode(data)
        if content is None:
            raise ToolError(f"{path} is not text ({len(data):,} bytes)")
        self.cache.put(path, stamp_of(status), data, content)
        return FileText(path, content.text, unsaved=False)


def _check_kind(path: Path, status: os.stat_result) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise ToolError(f"{path} is a directory; list it with LS")
    if not stat.S_ISREG(status.st_mode):
        raise ToolError(f"{path} is not a regular file")
    if status.st_size > MAX_READ_BYTES:
        raise ToolError(f"{path} is {status.st_size:,} bytes long, too long to read; search it with Grep")


def _explain(path: Path, error: OSError) -> str:
    match error.errno:
        case errno.ENOENT:
            return f"{path} does not exist"
        case errno.ENXIO:
            return f"{path} is not a regular file"
        case _:
            return f"{path} cannot be opened: {error.strerror}"
