"""Copies of texts for ripgrep to search: of what is not on disk, and of what it would count the lines of otherwise."""

import asyncio
import contextlib
import os
import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from pathlib import Path

from odin_lsp import system
from odin_lsp.errors import ToolError
from odin_lsp.scratch import temporary_folder
from odin_lsp.workspace.opening import opened_file
from odin_lsp.workspace.scanning import CHUNK
from odin_lsp.workspace.text import decode

MAX_COPIED_BYTES = 64 * 1024 * 1024
MAX_COPIED_DEPTH = 50
_LONE_RETURN = re.compile(rb"\r(?!\n)")


def has_lone_return(path: Path) -> bool:
    """Whether it has lines that ripgrep takes for one: a carriage return alone means nothing to it."""
    try:
        with os.fdopen(system.open_no_link(path, os.O_RDONLY | system.NO_WAIT | system.OWN), "rb", 0) as file:
            if os.fstat(file.fileno()).st_size > MAX_COPIED_BYTES:
                return False
            while chunk := file.read(CHUNK):
                chunk += file.read(1) if chunk.endswith(b"\r") else b""
                if b"\r" in chunk and chunk.count(b"\r") > chunk.count(b"\r\n"):
                    return True
    except OSError:
        pass
    return False


def contents_of(paths: Sequence[Path]) -> tuple[dict[Path, bytes], bool]:
    """What is really in these files, and whether all of it could be held."""
    contents: dict[Path, bytes] = {}
    left = MAX_COPIED_BYTES
    for path in paths:
        with contextlib.suppress(ToolError, OSError), opened_file(path) as (file, _):
            data = file.read(left + 1)
            if len(data) > left:
                return contents, False
            contents[path] = data
            left -= len(data)
    return contents, True


@contextlib.asynccontextmanager
async def copied(texts: Mapping[Path, bytes], where: Path) -> AsyncGenerator[list[tuple[Path, dict[Path, Path]]]]:
    """The texts as files under the same relative names, so that globs and types hold; and which file each stands for.

    What cannot be beside the others, since it has the name of a folder of theirs, is in a folder of its own. Of a very
    long way only the end is kept."""
    if not texts:
        yield []
        return
    async with temporary_folder("odin-") as folder:
        yield await asyncio.to_thread(_copied, texts, where, folder.resolve())


def _copied(texts: Mapping[Path, bytes], where: Path, parent: Path) -> list[tuple[Path, dict[Path, Path]]]:
    folders: list[tuple[Path, dict[Path, Path]]] = []
    for path, data in sorted(texts.items()):
        relative = Path(*path.relative_to(where).parts[-MAX_COPIED_DEPTH:] or [path.name])
        for folder, places in folders:
            if not (folder / relative).exists() and not any(folder / it in places for it in relative.parents):
                break
        else:
            folders.append((parent / str(len(folders)), {}))
            folder, places = folders[-1]
        copy = folder / relative
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(_with_plain_ends(data))
        places[copy] = path
    return folders


def _with_plain_ends(data: bytes) -> bytes:
    """The same lines, in ends that ripgrep knows."""
    content = decode(data)
    return _LONE_RETURN.sub(b"\n", content.text.encode() if content else data)
