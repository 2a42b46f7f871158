"""What could be meant by what is half typed: `/` a command, `@` a file, a folder or the problems."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

MOST = 50
PROBLEMS = "problems"
"""All that language servers report."""
_COMMAND = re.compile(r"/(\S*)\Z")
_PLACE = re.compile(r"(?:^|\s)@(\S*)\Z")


@dataclass(frozen=True, slots=True)
class Candidate:
    text: str
    replaces: int
    """So many characters before the cursor."""
    about: str = ""


@dataclass(frozen=True, slots=True)
class Known:
    """What there is to complete."""

    commands: Sequence[tuple[str, str, str]] = ()
    """Name, what may follow it, and what it does."""
    places: Sequence[str] = ()
    """Files, and folders with a slash at their end."""

    def completed(self, before: str) -> Iterator[Candidate]:
        if found := _COMMAND.match(before):
            for name, hint, about in self.commands:
                if name.startswith(found[1]):
                    yield Candidate(f"/{name}", len(found[0]), f"{hint} · {about}" if hint else about)
        elif found := _PLACE.search(before):
            for place in _likely([*self.places, PROBLEMS], found[1].lower()):
                yield Candidate(f'"{place}"' if " " in place else place, len(found[1]))


def with_folders(files: Iterable[str]) -> list[str]:
    paths = sorted(files)
    folders = {f"{it}/" for path in paths for it in PurePosixPath(path).parents if str(it) not in (".", "/")}
    return sorted(folders) + paths


def _likely(places: Sequence[str], typed: str) -> list[str]:
    """Those that begin so come first, then those whose name does, then those that have it anywhere."""
    ranked = [(_rank(place.lower(), typed), len(place), place) for place in places]
    return [place for rank, _, place in sorted(ranked) if rank < 3][:MOST]


def _rank(place: str, typed: str) -> int:
    if place.startswith(typed):
        return 0
    if PurePosixPath(place).name.startswith(typed):
        return 1
    return 2 if typed in place else 3
