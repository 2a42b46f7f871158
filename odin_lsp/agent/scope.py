"""What a planner works with besides its conversation: one set for a session, and one of its own for each helper."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from odin_lsp.agent.instructions import Instructions
from odin_lsp.commands.session import SessionCommands, judged_by
from odin_lsp.extensions.registry import Extensions
from odin_lsp.permissions.gate import Gate
from odin_lsp.permissions.outside import OutsideGate
from odin_lsp.ports import Asker
from odin_lsp.project.project import Project, Situation
from odin_lsp.workspace.shown import Shown

NOTEBOOKS = ("*.ipynb", "*/*.ipynb")
"""Where to look for one."""


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
    briefing: Briefing
    gate: Gate
    outside: OutsideGate
    commands: SessionCommands
    shown: Shown = field(default_factory=Shown)

    @classmethod
    def new(cls, asker: Asker, project: Project, briefing: Briefing) -> "Scope":
        gate = Gate(asker, lambda: project.now.config, lambda: project.now.root)
        commands = SessionCommands(lambda: project.now.config, judged_by(gate.rules))
        return cls(briefing, gate, OutsideGate(asker), commands)

    def briefed(self, briefing: Briefing) -> "Scope":
        return replace(self, briefing=briefing)


def has_notebooks(roots: Iterable[Path]) -> bool:
    """In the folders or right below them; those further down are known when one was read."""
    found = (path for root in roots for pattern in NOTEBOOKS for path in root.glob(pattern))
    return next(found, None) is not None
