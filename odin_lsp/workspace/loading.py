"""Files as they are on disk, whole or in part. Nothing here looks at what is held or on the screen, so that all of it
can be done beside the event loop."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from odin_lsp.errors import ToolError
from odin_lsp.workspace.buffers import Stamp, stamp_of
from odin_lsp.workspace.opening import opened_file
from odin_lsp.workspace.scanning import read_bytes, scan
from odin_lsp.workspace.text import Decoded, decode, split_lines
from odin_lsp.workspace.uris import printable

MAX_EDIT_BYTES = 64 * 1024 * 1024
"""Of a file that is edited without being open; for more `cache.maxFileSize` has to be larger."""


@dataclass(frozen=True, slots=True)
class LoadedFile:
    """The whole of a file."""

    content: Decoded
    stamp: Stamp
    size: int


@dataclass(frozen=True, slots=True)
class FilePart:
    """Some lines of a file."""

    lines: list[str]
    """Without their ends."""
    stamp: Stamp
    size: int
    """Bytes of the whole file."""
    total: int | None = None
    """Lines in the file, if they were counted."""
    cut: Mapping[int, int] = field(default_factory=dict[int, int])
    """Of lines too long to be held in full, by their index: how many bytes they have."""
    content: Decoded | None = None
    """The whole file, if all of it was read for that."""


def load_file(path: Path, most: int, *, to_edit: bool = False) -> LoadedFile:
    """Of no more than so many bytes; what is to be edited may be larger."""
    with opened_file(path) as (file, status):
        return LoadedFile(load_opened(path, file, status, most, to_edit=to_edit), stamp_of(status), status.st_size)


def load_opened(path: Path, file: BinaryIO, status: os.stat_result, most: int, *, to_edit: bool = False) -> Decoded:
    most = max(most, MAX_EDIT_BYTES if to_edit else 0)
    if status.st_size > most:
        raise ToolError(_too_large(path, status.st_size, most, to_edit=to_edit))
    data = read_bytes(path, file, most + 1)
    if len(data) > most:
        raise ToolError(f"{printable(str(path))} does not end; it is not read")
    if (content := decode(data)) is None:
        raise ToolError(f"{printable(str(path))} is not text that could be written back as it is ({len(data):,} bytes)")
    return content


def load_part(path: Path, start: int, count: int, most: int) -> FilePart:
    """Some lines, from `start` on, counted from 1. Of a file of more than so many bytes no more is read than that
    takes."""
    with opened_file(path) as (file, status):
        if status.st_size > most:
            lines, total, cut = scan(path, file, start, count)
            return FilePart(lines, stamp_of(status), status.st_size, total, cut)
        content = load_opened(path, file, status, most)
    lines = split_lines(content.text)
    some = lines[start - 1 : start - 1 + count]
    return FilePart(some, stamp_of(status), status.st_size, len(lines), content=content)


def _too_large(path: Path, size: int, most: int, *, to_edit: bool) -> str:
    help_with_edits = (
        f". To edit files of more than {most:,} bytes the user has to open them in the editor, or raise "
        "cache.maxFileSize in odinconfig.json"
    )
    reason = f"{printable(str(path))} has {size:,} bytes; read a part of it, or use Grep"
    return reason + (help_with_edits if to_edit else "")
