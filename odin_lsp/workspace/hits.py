"""What a search finds in files, read from what ripgrep prints. For threads: there may be a hundred thousand hits."""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from odin_lsp.workspace.name_list import HERE
from odin_lsp.workspace.opening import DESCRIPTORS

OutputMode = Literal["content", "files_with_matches", "count"]
_BINARY = re.compile(
    r"\A(?:.*?: (?:WARNING: stopped searching binary file after match|binary file matches)"
    r" \(found [^\n]* offset \d+\)\n)+",
    re.DOTALL,
)
_BETWEEN = re.compile(r"\A--\r?\n")
"""What stands between groups is no path: these begin otherwise."""


@dataclass(frozen=True, slots=True)
class Hit:
    path: Path
    line: int = 0
    text: str = ""
    is_match: bool = True
    """False for a line of context."""
    count: int = 0


def parse_hits(output: bytes, mode: OutputMode, file_of: Callable[[str], Path | None]) -> Iterator[Hit]:
    """Hits from `path NUL 12:text`, `path NUL 12-text`, `path NUL count`, each ending a line; or from `path NUL`. Which
    file a path means is asked once; of one that means none there are no hits.

    A path may have line feeds in it, a text may not: what follows a NUL up to the next line feed is the text."""
    path, *rest = output.decode("utf-8", "surrogateescape").split("\0")
    files: dict[str, Path | None] = {}
    for piece in rest:
        line, ended, following = ("", True, piece) if mode == "files_with_matches" else piece.partition("\n")
        if ended and path.startswith((HERE, DESCRIPTORS)):
            if path not in files:
                files[path] = file_of(path)
            if (file := files[path]) is not None:
                yield _hit(file, line.removesuffix("\r"), mode)
        path = _BETWEEN.sub("", _BINARY.sub("", following))


def in_order(hits: Iterable[Hit]) -> list[Hit]:
    """By path; those of one file as they are."""
    files: dict[Path, list[Hit]] = {}
    for hit in hits:
        files.setdefault(hit.path, []).append(hit)
    # As paths are ordered, by the names of their folders: comparing paths takes a hundred times as long.
    ordered = sorted(files, key=lambda path: str(path).replace(os.sep, "\0"))
    return [hit for path in ordered for hit in files[path]]


def _hit(path: Path, rest: str, mode: OutputMode) -> Hit:
    if mode == "files_with_matches":
        return Hit(path)
    if mode == "count":
        return Hit(path, count=int(rest))
    digits = len(rest) - len(rest.lstrip("0123456789"))
    text = rest[digits + 1 :].encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return Hit(path, int(rest[:digits]), text, is_match=rest[digits] == ":")
