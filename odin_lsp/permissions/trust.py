"""Which workspaces the user trusts, and what of each: bound to the folder, and to what it brings, thing by thing, as it
was when the user decided."""

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import unified_diff
from pathlib import Path
from typing import Any, Literal

from odin_lsp import private_files, state_folder
from odin_lsp.brought import BroughtItem, BroughtKind
from odin_lsp.config import FILE_NAME, brought_settings, content_of
from odin_lsp.display import shown_line
from odin_lsp.errors import RequestError
from odin_lsp.extensions.hook_files import what_counts
from odin_lsp.extensions.places import brought_by
from odin_lsp.extensions.registry import brought_extensions
from odin_lsp.values import is_object
from odin_lsp.workspace.uris import printable

Standing = Literal["trusted", "changed", "restricted", "unknown"]
"""`changed`: it was trusted, but it brings something now on which the user has not decided."""
MAX_KEPT = 8_000
"""Characters of a file that are kept as they were trusted, to show what has changed since."""
RESTRICTED = "restricted"
ALONE = (
    "Programs and servers, each of which runs only if you agree to it, with the files named here as they are now. What"
    " else they load can change without a question:"
)
KINDS: Mapping[BroughtKind, str] = {
    "hook": "hook",
    "server": "MCP server",
    "languageServer": "language server",
    "command": "command",
    "agent": "agent",
    "skill": "skill",
    "setting": "setting",
}


@dataclass(frozen=True, slots=True)
class FileChange:
    """What has become of a file since the folder was trusted."""

    name: str
    how: Literal["new", "changed", "gone"]
    diff: tuple[str, ...] = ()
    """Lines, where the text was kept."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far a folder is trusted."""

    standing: Standing = "unknown"
    agreed: frozenset[str] = frozenset()
    """Ids of what counts. None while anything is undecided: what is new could lead what is known astray."""
    undecided: frozenset[str] = frozenset()
    """Ids of what is new since the folder was trusted."""


@dataclass(frozen=True, slots=True)
class BroughtList:
    """All that a folder brings at one moment."""

    items: tuple[BroughtItem, ...] = ()

    @property
    def digest(self) -> str:
        """Changes with whatever is in the list, and with nothing else."""
        return hashlib.sha256(" ".join(sorted(it.id for it in self.items)).encode()).hexdigest()

    @property
    def undecided(self) -> list[BroughtItem]:
        return [it for it in self.items if it.state in ("new", "changed")]


def told(items: Iterable[BroughtItem]) -> list[str]:
    """A line for each thing, as people read it: what counts with the folder, and what is agreed to by itself."""
    with_folder = [it for it in items if not it.runs]
    alone = [it for it in items if it.runs]
    return [
        *(["Settings and texts, which count if you trust the folder:"] if with_folder else []),
        *map(_line, with_folder),
        *([ALONE] if alone else []),
        *map(_line, alone),
    ]


def _line(it: BroughtItem) -> str:
    gets = f"; gets {', '.join(it.variables)}" if it.variables else ""
    names = ", ".join(map(printable, it.includes))
    includes = f"; with {names} as of now" if it.includes else ""
    state = {"new": "", "changed": " (changed)", "agreed": " (agreed)", "refused": " (not agreed)"}[it.state]
    return shown_line(f"- {KINDS[it.kind]} {it.what}{state} [{printable(it.file)}{gets}{includes}]", None)


class Trust:
    def __init__(self, path: Path | None = None) -> None:
        self._path = path or state_folder.folder() / "trust.json"
        self._unkept: dict[str, Any] = {}
        """What was decided here and is not on disk: it counts in this process."""

    def of(self, root: Path) -> Standing:
        return self.agreement(root).standing

    def agreement(self, root: Path) -> Agreement:
        """A folder that is trusted says nothing about those in it, nor about what replaces it."""
        known = self._known(root)
        if known is None:
            return Agreement()
        if known == RESTRICTED:
            return Agreement("restricted")
        if undecided := self._listed(root, known).undecided:
            return Agreement("changed", undecided=frozenset(it.id for it in undecided))
        return Agreement("trusted", frozenset(_decided(known, "agreed")))

    def brought(self, root: Path) -> BroughtList:
        """List all that the folder brings as it is now, and what was decided on each."""
        return self._listed(root, self._known(root))

    def changes(self, root: Path) -> list[FileChange]:
        """List what has become of its files since it was trusted, as far as that is known."""
        known = self._known(root)
        files = known.get("files") if is_object(known) else None
        return list(_changes(files, _described(root))) if is_object(files) else []

    def decide(self, root: Path, *, trusted: bool, items: Collection[str] = (), digest: str | None = None) -> None:
        """Note what the user has decided. It counts at once, but only in this process until it is kept.

        To trust a folder is to agree to its settings and texts; of the programs and servers that it brings only to
        those whose ids are in `items`. Raises `RequestError` if what was shown (`digest`) is not what there is now."""
        if not trusted:
            self._unkept[str(root.resolve())] = RESTRICTED
            return
        listed = self.brought(root)
        unknown = set(items) - {it.id for it in listed.items}
        if unknown or digest not in (None, listed.digest):
            raise RequestError("what this folder brings has changed since it was listed; look at the list again")
        agreed = [it for it in listed.items if it.id in items or not it.runs]
        refused = [it for it in listed.items if it not in agreed]
        self._unkept[str(root.resolve())] = {
            "agreed": _named(agreed),
            "refused": _named(refused),
            "files": _described(root),
        }

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

    def _known(self, root: Path) -> Any:
        place, stored = str(root.resolve()), private_files.read_json(self._path)
        return self._unkept.get(place) or (stored.get(place) if is_object(stored) else None)

    def _listed(self, root: Path, known: Any) -> BroughtList:
        agreed, refused = _decided(known, "agreed"), _decided(known, "refused")
        names = [*agreed.values(), *refused.values()]

        def state(it: BroughtItem) -> Literal["new", "changed", "agreed", "refused"]:
            if it.id in agreed or it.id in refused:
                return "agreed" if it.id in agreed else "refused"
            return "changed" if [it.kind, it.file, it.name] in names else "new"

        found = {it.id: it for it in (*brought_settings(root), *brought_extensions(root))}
        return BroughtList(tuple(replace(it, state=state(it)) for it in found.values()))


def _decided(known: Any, how: Literal["agreed", "refused"]) -> Mapping[str, Any]:
    """Of what earlier versions have stored nothing counts: they agreed to files, not to what these do."""
    decided = known.get(how) if is_object(known) else None
    return decided if is_object(decided) else {}


def _named(items: Iterable[BroughtItem]) -> dict[str, list[str]]:
    return {it.id: [it.kind, it.file, it.name] for it in items}


def _described(root: Path) -> dict[str, dict[str, str]]:
    """A hash for each file, and the text where it is short. That of a server may have keys in it, and is not kept."""
    found: dict[str, dict[str, str]] = {}
    for name, content, may_keep in _contents(root):
        text = content.decode("utf-8", "replace")
        kept = {"text": text} if may_keep and len(text) <= MAX_KEPT else {}
        found[printable(name)] = {"hash": hashlib.sha256(content).hexdigest(), **kept}
    return found


def _contents(root: Path) -> Iterator[tuple[str, bytes, bool]]:
    try:
        settings = content_of(root / FILE_NAME)
    except OSError:
        settings = None
    if settings is not None:
        yield FILE_NAME, settings, True
    for it in brought_by(root):
        if content := what_counts(it) if it.kind == "hooks" else it.content:
            yield str(it.path.relative_to(root.resolve())), content, it.kind != "mcp"


def _changes(before: Mapping[str, Any], now: Mapping[str, Mapping[str, str]]) -> Iterator[FileChange]:
    for name in sorted({*before, *now}):
        old, new = before.get(name, {}), now.get(name, {})
        if not is_object(old) or old.get("hash") == new.get("hash"):
            continue
        how = "new" if not old else "changed" if new else "gone"
        is_known = all("text" in it or not it for it in (old, new))
        was, is_now = (str(it.get("text", "")).splitlines() for it in (old, new))
        yield FileChange(name, how, tuple(unified_diff(was, is_now, lineterm="", n=1))[2:] if is_known else ())
