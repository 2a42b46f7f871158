"""Which workspaces the user trusts: bound to the folder, and to what its settings said when the user decided."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from typing import Any, Literal

from odin_lsp import private_files, state_folder
from odin_lsp.config import FILE_NAME, content_of
from odin_lsp.extensions.hook_files import what_counts
from odin_lsp.extensions.places import brought_by
from odin_lsp.values import is_object
from odin_lsp.workspace.uris import printable

Standing = Literal["trusted", "changed", "restricted", "unknown"]
"""`changed`: it was trusted, but its settings were others then."""
Counting = tuple[str, bytes, bool]
"""A name, a content, and whether the text may be kept: that of a server may have keys in it."""
MAX_KEPT = 8_000
"""Characters of a file that are kept as they were trusted, to show what has changed since."""


@dataclass(frozen=True, slots=True)
class Change:
    """What has become of a file since the folder was trusted."""

    name: str
    how: Literal["new", "changed", "gone"]
    diff: tuple[str, ...] = ()
    """Lines, where the text was kept."""


class Trust:
    def __init__(self, path: Path | None = None) -> None:
        self._path = path or state_folder.folder() / "trust.json"
        self._unkept: dict[str, Any] = {}
        """What was decided here and is not on disk: it counts in this process."""

    def of(self, root: Path) -> Standing:
        """A folder that is trusted says nothing about those in it, nor about what replaces it."""
        known = self._known(root)
        if known is None:
            return "unknown"
        if known == RESTRICTED:
            return "restricted"
        trusted = known.get("fingerprint") if is_object(known) else known
        return "trusted" if trusted == fingerprint(root) else "changed"

    def changes(self, root: Path) -> list[Change]:
        """Since it was trusted, as far as that is known: earlier versions of Odin have kept no names."""
        known = self._known(root)
        files = known.get("files") if is_object(known) else None
        return list(_changes(files, _described(list(_counting(root))))) if is_object(files) else []

    def _known(self, root: Path) -> Any:
        place, stored = str(root.resolve()), private_files.read_json(self._path)
        return self._unkept.get(place) or (stored.get(place) if is_object(stored) else None)

    def decide(self, root: Path, *, trusted: bool) -> None:
        """It counts at once, but only in this process until it is kept."""
        seen = list(_counting(root))
        known = {"fingerprint": _fingerprint(seen), "files": _described(seen)}
        self._unkept[str(root.resolve())] = known if trusted else RESTRICTED

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
    return _fingerprint(_counting(root))


def _fingerprint(counting: Iterable[Counting]) -> str:
    digest = hashlib.sha256()
    for name, content, _ in counting:
        digest.update(f"{name}\0{len(content)}\0".encode("utf-8", "surrogateescape"))
        digest.update(content)
    return digest.hexdigest()


def _counting(root: Path) -> Iterator[Counting]:
    try:
        settings = content_of(root / FILE_NAME)
    except OSError:
        settings = None
    if settings is not None:
        yield FILE_NAME, settings, True
    for it in brought_by(root):
        if content := what_counts(it) if it.kind == "hooks" else it.content:
            yield str(it.path.relative_to(root.resolve())), content, it.kind != "mcp"


def _described(counting: Iterable[Counting]) -> dict[str, dict[str, str]]:
    """A hash for each name, and the text where it is short."""
    found: dict[str, dict[str, str]] = {}
    for name, content, may_keep in counting:
        text = content.decode("utf-8", "replace")
        kept = {"text": text} if may_keep and len(text) <= MAX_KEPT else {}
        found[printable(name)] = {"hash": hashlib.sha256(content).hexdigest(), **kept}
    return found


def _changes(before: Mapping[str, Any], now: Mapping[str, Mapping[str, str]]) -> Iterator[Change]:
    for name in sorted({*before, *now}):
        old, new = before.get(name, {}), now.get(name, {})
        if not is_object(old) or old.get("hash") == new.get("hash"):
            continue
        how = "new" if not old else "changed" if new else "gone"
        is_known = all("text" in it or not it for it in (old, new))
        was, is_now = (str(it.get("text", "")).splitlines() for it in (old, new))
        yield Change(name, how, tuple(unified_diff(was, is_now, lineterm="", n=1))[2:] if is_known else ())
