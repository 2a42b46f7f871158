"""Questions about code and their answers, whoever gives them. Lines are counted from 1; nobody speaks of columns."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

What = Literal["definition", "references", "callers", "outline", "symbols"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    what: What
    symbol: str = ""
    """A name, or several with dots: `Outer.method`. Of `symbols`, a part of one."""
    path: Path | None = None
    """Where to look; for an outline, the file."""
    drafts: Mapping[Path, str] = field(default_factory=dict[Path, str])
    """Texts that count in place of those on the screen."""


@dataclass(frozen=True, slots=True)
class Found:
    path: Path
    line: int
    text: str
    """Of the line."""
    within: str = ""
    """The symbol that it is part of."""
    depth: int = 0
    """In an outline: how many symbols are around it."""


@dataclass(frozen=True, slots=True)
class Answer:
    found: tuple[Found, ...]
    """By path and line."""
    source: str
    """Who says so, for the model and the user."""
    is_complete: bool
    """Whether there can be no more; `caveat` says why not."""
    caveat: str = ""


class Source(Protocol):
    async def ask(self, asked: Asked) -> Answer | None:
        """`None`: it cannot tell, and another one should."""
        ...
