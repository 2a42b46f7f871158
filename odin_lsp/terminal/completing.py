"""What could be meant by what is half typed: `/` a command, `@` a file, a folder or the problems; or a model."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from pathlib import PurePosixPath

from odin_lsp.workspace.name_list import folders_of

MOST = 50
PROBLEMS = "problems"
"""All that language servers report."""
_COMMAND = re.compile(r"/(\S*)\Z")
_MODEL = re.compile(r"/model\s+(\S*)\Z")
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
    models: Sequence[str] = ()

    def completed(self, before: str) -> Iterator[Candidate]:
        if found := _COMMAND.match(before):
            for name, hint, about in self.commands:
                if name.startswith(found[1]):
                    yield Candidate(f"/{name}", len(found[0]), f"{hint} · {about}" if hint else about)
        elif found := _MODEL.match(before):
            yield from (Candidate(it, len(found[1])) for it in _likely(self.models, found[1].lower()))
        elif found := _PLACE.search(before):
            for place in _likely([*self.places, PROBLEMS], found[1].lower()):
                yield Candidate(f'"{place}"' if " " in place else place, len(found[1]))


def with_folders(files: Sequence[str]) -> list[str]:
    return sorted(folders_of(files)) + sorted(files)


def _likely(places: Sequence[str], typed: str) -> list[str]:
    """Those that begin so come first, then those whose name does, then those that have it anywhere."""
    fitting = ((_rank(place.lower(), typed), len(place), place) for place in places if typed in place.lower())
    return [place for *_, place in nsmallest(MOST, fitting)]


def _rank(place: str, typed: str) -> int:
    if place.startswith(typed):
        return 0
    return 1 if PurePosixPath(place).name.startswith(typed) else 2
