"""Which workspaces the user trusts: bound to the folder, and to what its settings said when the user decided."""

import hashlib
from pathlib import Path
from typing import Any, Literal

from odin_lsp.config import FILE_NAME, FOLDER
from odin_lsp.permissions import private
from odin_lsp.values import is_object

Standing = Literal["trusted", "changed", "restricted", "unknown"]
"""`changed`: it was trusted, but its settings were others then."""
MAX_FILES = 1000


class Trust:
    def __init__(self, path: Path | None = None) -> None:
        self._path = path or private.state_file("trust.json")

    def of(self, root: Path) -> Standing:
        """A folder that is trusted says nothing about those in it, nor about what replaces it."""
        stored = private.read(self._path)
        known = stored.get(str(root.resolve())) if is_object(stored) else None
        if known is None:
            return "unknown"
        if known == RESTRICTED:
            return "restricted"
        return "trusted" if known == fingerprint(root) else "changed"

    def decide(self, root: Path, *, trusted: bool) -> None:
        print_of_it = fingerprint(root) if trusted else RESTRICTED

        def change(stored: Any) -> Any:
            return {**(stored if is_object(stored) else {}), str(root.resolve()): print_of_it}

        private.update(self._path, change)


RESTRICTED = "restricted"


def fingerprint(root: Path) -> str:
    """Changes with whatever in a workspace can change what Odin does: its settings, and its folder of them."""
    digest = hashlib.sha256()
    places = [root / FILE_NAME, *sorted((root / FOLDER).rglob("*"))[:MAX_FILES]]
    for path in places:
        try:
            content = path.read_bytes() if path.is_file() else None
        except OSError:
            content = b"?"
        if content is not None:
            digest.update(f"{path.relative_to(root)}\0{len(content)}\0".encode("utf-8", "surrogateescape"))
            digest.update(content)
    return digest.hexdigest()
