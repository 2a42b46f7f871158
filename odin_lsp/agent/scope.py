"""What a planner works with besides its conversation: one set for a session, and one of its own for each helper."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import chain, islice
from pathlib import Path

from odin_lsp.agent.instructions import Instructions
from odin_lsp.commands.session import SessionCommands, judged_by
from odin_lsp.extensions.registry import Extensions
from odin_lsp.formats import notebooks
from odin_lsp.permissions.gate import Gate
from odin_lsp.permissions.outside import OutsideGate
from odin_lsp.ports import Asker
from odin_lsp.project.project import Project, Situation
from odin_lsp.workspace.shown import Shown

GLANCE = 2_000
"""Names that are looked at for notebooks."""


@dataclass(frozen=True, slots=True)
class Briefing:
    """What the project says to whoever works in it. A snapshot: a prefix that changes in the middle of a conversation
    could not be cached."""

    instructions: Instructions = field(default_factory=Instructions)
    extensions: Extensions = field(default_factory=Extensions)
    has_notebooks: bool = False

    @classmethod
    def of(cls, now: Situation) -> "Briefing":
        return cls(Instructions.load(now.roots), now.extensions, has_notebooks(now.roots))


@dataclass(frozen=True, slots=True)
class Scope:
    read_briefing: Callable[[], Briefing]
    """It reads files when it is first asked: that is for a thread."""
    gate: Gate
    outside: OutsideGate
    commands: SessionCommands
    shown: Shown = field(default_factory=Shown)

    @classmethod
    def new(cls, asker: Asker, project: Project, read_briefing: Callable[[], Briefing]) -> "Scope":
        gate = Gate(asker, lambda: project.now.config, lambda: project.now.root)

        def trusted() -> Sequence[Path]:
            """Trust is the first folder's; of the others nothing is known."""
            now = project.now
            return now.roots[:1] if now.is_trusted else ()

        commands = SessionCommands(lambda: project.now.config, judged_by(gate.rules, trusted), trusted)
        return cls(cache(read_briefing), gate, OutsideGate(asker), commands)

    @property
    def briefing(self) -> Briefing:
        return self.read_briefing()

    def briefed(self, now: Situation) -> "Scope":
        return replace(self, read_briefing=cache(partial(Briefing.of, now)))


def has_notebooks(roots: Iterable[Path]) -> bool:
    """In the folders or right below them, as far as a glance tells; others are known when one was read."""
    names = islice(chain.from_iterable(_names(root, below=1) for root in roots), GLANCE)
    return any(name.endswith(notebooks.SUFFIX) for name in names)


def _names(folder: str | Path, below: int) -> Iterator[str]:
    """In a folder, and in its folders, so many levels down."""
    with suppress(OSError), os.scandir(folder) as entries:
        inner: list[str] = []
        for it in entries:
            yield it.name
            if below and it.is_dir():
                inner.append(it.path)
        for it in inner:
            yield from _names(it, below - 1)
