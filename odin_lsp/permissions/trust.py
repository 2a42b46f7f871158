"""Which workspaces the user trusts: bound to the folder, and to what its settings said when the user decided."""

import hashlib
from pathlib import Path
from typing import Any, Literal

from odin_lsp import private_files, state_folder
from odin_lsp.config import FILE_NAME, content_of
from odin_lsp.extensions.hook_files import what_counts
from odin_lsp.extensions.places import brought_by
from odin_lsp.values import is_object

Standing = Literal["trusted", "changed", "restricted", "unknown"]
"""`changed`: it was trusted, but its settings were others then."""


class Trust:
    def __init__(self, path: Path | None = None) -> None:
        self._path = path or state_folder.folder() / "trust.json"
        self._unkept: dict[str, str] = {}
        """What was decided here and is not on disk: it counts in this process."""

    def of(self, root: Path) -> Standing:
        """A folder that is trusted says nothing about those in it, nor about what replaces it."""
        place, stored = str(root.resolve()), private_files.read_json(self._path)
        known = self._unkept.get(place) or (stored.get(place) if is_object(stored) else None)
        if known is None:
            return "unknown"
        if known == RESTRICTED:
            return "restricted"
        return "trusted" if known == fingerprint(root) else "changed"

    def decide(self, root: Path, *, trusted: bool) -> None:
        """It counts at once, but only in this process until it is kept."""
        self._unkept[str(root.resolve())] = fingerprint(root) if trusted else RESTRICTED

    def keep(self) -> None:
        """Store what was decided. This waits for the disk, and for others who store something; an `OSError` says why
        it cannot be stored."""
        decided = dict(self._unkept)
        if not decided:
            return

        def change(stored: Any) -> Any:
            return {**(stored if is_object(stored) else {}), **decided}

        private_files.update_json(self._path, change)
        self._unkept = {place: it for place, it in self._unkept.items() if decided.get(place) != it}


RESTRICTED = "restricted"


def fingerprint(root: Path) -> str:
    """Changes with whatever in a workspace can change what Odin does: its settings, and the extensions that it brings.
    Both are read as they are when they are used."""
    try:
        settings = content_of(root / FILE_NAME)
    except OSError:
        settings = None
    digest = hashlib.sha256()
    brought = brought_by(root)
    counting = [(it, what_counts(it) if it.kind == "hooks" else it.content) for it in brought]
    named = [(str(it.path.relative_to(root.resolve())), content or None) for it, content in counting]
    for name, content in ((FILE_NAME, settings), *named):
        if content is not None:
            digest.update(f"{name}\0{len(content)}\0".encode("utf-8", "surrogateescape"))
            digest.update(content)
    return digest.hexdigest()
