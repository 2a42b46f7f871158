"""Questions about code and their answers, whoever gives them. Lines are counted from 1; nobody speaks of columns."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

What = Literal[
    "definition", "references", "implementations", "type", "hover", "callers", "callees", "outline", "symbols"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    what: What
    symbol: str = ""
    """A name, or several with dots: `Outer.method`. Of `symbols`, a part of one."""
    path: Path | None = None
    """The file that the symbol is in; for an outline, the file."""
    line: int | None = None
    """A line with the symbol on it; for an outline, where to begin."""
    folder: Path | None = None
    """Only what is there; a file counts as well."""
    drafts: Mapping[Path, str] = field(default_factory=dict[Path, str])
    """Texts that count in place of those on the screen."""

    @property
    def own_name(self) -> str:
        """`method` of `Outer.method`."""
        return self.symbol.rpartition(".")[2]


@dataclass(frozen=True, slots=True)
class Found:
    path: Path
    line: int
    text: str | None
    """Of the line; none where nobody has allowed to look."""
    within: str = ""
    """The symbol that it is part of."""
    depth: int = 0
    """In an outline: how many symbols are around it."""
    is_by_name: bool = False
    """It has the name, and nobody knows whether it is the one that is meant."""


@dataclass(frozen=True, slots=True)
class Answer:
    found: tuple[Found, ...]
    """By path and line."""
    source: str
    """Who says so, for the model and the user."""
    is_complete: bool
    """Whether there can be no more; `caveat` says why not."""
    caveat: str = ""
    text: str = ""
    """Of a hover, all that there is to say."""
    more: int = 0
    """Places that were found and are not among these, since there are too many."""
