"""What is seen of a file: the whole text or some lines, and where they come from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from odin_lsp.workspace.buffers import Buffer, Stamp, moved
from odin_lsp.workspace.text import Decoded

UNSAVED = "unsaved changes are shown"
MOVED = "the file has changed on disk under the editor; this is the editor's text"
UNKNOWN = "the editor's text of this file is not known; this is what is on disk"
NOTEBOOK = "this notebook is open in the editor, and what its cells say is not known; this is what is on disk"


@dataclass(frozen=True, slots=True)
class Place:
    path: Path
    inside: bool
    """In one of the workspace folders; anything else needs the user's word."""


@dataclass(frozen=True, slots=True)
class FileText:
    path: Path
    text: str
    unsaved: bool = False
    note: str = ""
    """What a reader should know about where the text comes from."""
    form: Decoded | None = None
    """How it is written on disk; none while it is only on the screen."""


@dataclass(frozen=True, slots=True)
class Window:
    path: Path
    lines: list[str]
    """Without their ends."""
    total: int | None
    """Lines in the file, if they were counted."""
    size: int
    cut: Mapping[int, int] = field(default_factory=dict[int, int])
    """Of lines too long to be held in full, by their index: how many bytes they have."""
    unsaved: bool = False
    note: str = ""
    stamp: Stamp | None = None
    """Which text it is of; none where that is neither on the screen nor on disk."""


def note_of(buffer: Buffer | None) -> str:
    """Before its stamp is used: to look at the file may give the document another one."""
    if buffer is None or not buffer.synchronised:
        return "" if buffer is None else NOTEBOOK if buffer.is_notebook else UNKNOWN
    return "; ".join(filter(None, (UNSAVED if buffer.unsaved else "", MOVED if moved(buffer) else "")))
