"""What two processes must agree on before one works for the other: the same Odin, with the same keys and settings."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from odin_lsp import __version__
from odin_lsp.values import Value, is_object

NOT_COMPARED = ("temperature", "limits.maxTokens", "logLevel")
"""What goes with a message, or matters to one process only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms(Value):
    """`initializationOptions` of a guest: what it would work with if it worked by itself."""

    version: str
    """Of Odin."""
    environment: dict[str, str] = field(default_factory=dict[str, str])
    """Digests of the values of its variables."""
    settings: dict[str, Any] = field(default_factory=dict[str, Any])
    """Those of its command line, as in `odinconfig.json`."""


def own_terms(environment: Mapping[str, str], settings: Mapping[str, Any]) -> dict[str, Any]:
    """As they go over the wire."""
    digests = {name: digest_of(value) for name, value in environment.items() if value}
    return {"version": __version__, "environment": digests, "settings": dict(settings)}


def digest_of(value: str) -> str:
    return hashlib.sha256(value.strip().encode("utf-8", "surrogateescape")).hexdigest()


def compared(settings: Mapping[str, Any], place: str = "") -> Iterator[tuple[str, Any]]:
    """Each setting that both sides must have, by its name with dots."""
    for name, value in settings.items():
        here = f"{place}{name}"
        if is_object(value):
            yield from compared(value, f"{here}.")
        elif here not in NOT_COMPARED:
            yield here, value
