"""What a helper may do: never more than the turn that it works for.

Its mode, and where it edits, are checked here. It has none of the tools that are the turn's alone (`Tool.main_only`):
it asks nothing, takes no notes and starts no helpers. What the user has allowed the turn is not allowed to it: its gate
is its own (`agent/scope.py`)."""

from collections.abc import Sequence
from pathlib import Path

from odin_lsp.modes import Mode
from odin_lsp.permissions.rules import CAPABILITIES


def is_within(mode: Mode, limit: Mode) -> bool:
    """Whether who is in this mode can do no more than in the other."""
    return CAPABILITIES[mode] <= CAPABILITIES[limit]


def may_edit(path: Path, write_scope: Sequence[Path]) -> bool:
    """Who was given no scope may edit wherever the mode allows."""
    return not write_scope or any(path.is_relative_to(place) for place in write_scope)
