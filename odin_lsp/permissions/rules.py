"""Pure decisions: what a mode allows, by what a call would do."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from odin_lsp.events import Mode


class Effect(StrEnum):
    """What running a tool can change."""

    NONE = "none"
    """Nothing but Odin's own notes."""
    READ_ONLY = "read_only"
    MUTATING = "mutating"
    NETWORK = "network"
    BLOCKING = "blocking"
    """It waits for a person."""


CAPABILITIES: dict[Mode, frozenset[Effect]] = {
    "ask_mode": frozenset({Effect.NONE, Effect.READ_ONLY, Effect.NETWORK, Effect.BLOCKING}),
    "plan_mode": frozenset({Effect.NONE, Effect.READ_ONLY, Effect.NETWORK, Effect.BLOCKING}),
    "edit_mode": frozenset(Effect),
}
NEEDS_NO_QUESTION = frozenset({Effect.NONE, Effect.READ_ONLY, Effect.BLOCKING, Effect.MUTATING})
"""Edits are not asked about here, because every one of them is reviewed."""


@dataclass(frozen=True, slots=True)
class Verdict:
    decision: Literal["allow", "ask", "deny"]
    reason: str = ""


def decide(tool: str, effect: Effect, mode: Mode) -> Verdict:
    if effect not in CAPABILITIES[mode]:
        return Verdict("deny", f"{tool} is not available in {mode.replace('_', ' ')}; the user can switch to Edit")
    if effect in NEEDS_NO_QUESTION:
        return Verdict("allow")
    return Verdict("ask", f"{tool} has effects outside of Odin")
