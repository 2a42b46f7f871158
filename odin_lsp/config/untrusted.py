"""What counts of a workspace's settings before the user trusts it: only what restricts."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic.alias_generators import to_camel

from odin_lsp.config.places import Place, dotted
from odin_lsp.config.schema import Limits
from odin_lsp.config.section import Section

UNTIL_TRUSTED = "until you trust this workspace"
FROM_HERE = ("scripted/", "ollama/", "lmstudio/", "llamacpp/", "vllm/")
"""Models that the workspace could bring along: a script, or what its own program listens for."""
S = TypeVar("S", bound=Section)


@dataclass(frozen=True, slots=True)
class Leave:
    """What a workspace may say of a setting before it is trusted."""

    part: Callable[[Any, Any], Any] = lambda _below, _said: None
    """Of what is in force without it and what it says: so much of the latter as counts; `None`: nothing."""
    otherwise: str = "`{}` is not used"
    """What the user is told of the rest."""


def _lowered(below: float, said: float) -> float | None:
    """0 is no limit."""
    return said if not below or 0 < said <= below else None


def _elsewhere(_: object, said: str | tuple[str, ...] | None) -> str | tuple[str, ...] | None:
    named = (said,) if isinstance(said, str) else said or ()
    return None if any(it.startswith(FROM_HERE) for it in named) else said


UNTRUSTED: Mapping[str, Leave] = {
    **dict.fromkeys(
        ("model", "small_model", "fallback_models"), Leave(_elsewhere, "`{}`: a script or local server is not used")
    ),
    **{f"limits.{name}": Leave(_lowered, "`{}` may only be lowered") for name in Limits.model_fields},
    "rules": Leave(lambda _, said: tuple(it for it in said if it.decision != "allow"), "`{}` that allow are not used"),
    "forbidden_commands": Leave(lambda _, said: said),
    **dict.fromkeys(
        ("files.deny", "tools.disabled", "tools.disabled_in", "extensions.disabled"), Leave(lambda _, said: said)
    ),
}
"""All that counts of a workspace before it is trusted: what is not here does not. The values are compared as they were
understood, never as they are written."""


def restrict(given: S, below: S, report: Callable[[Place, str], None], place: tuple[str, ...] = ()) -> S:
    """What counts of a workspace's settings before it is trusted, over those that are in force without them."""
    counts: dict[str, Any] = {}
    for name in filter(given.model_fields_set.__contains__, type(given).model_fields):
        said, old, here = getattr(given, name), getattr(below, name), (*place, name)
        if isinstance(said, Section):
            counts[name] = restrict(said, old, report, here)
            continue
        leave = UNTRUSTED.get(".".join(here), Leave())
        part = leave.part(old, said)
        if part != said:
            key = tuple(map(to_camel, here))
            report(key, f"{leave.otherwise.format(dotted(key))} {UNTIL_TRUSTED}")
        if part is not None:
            counts[name] = part
    return given.model_construct(**counts)
