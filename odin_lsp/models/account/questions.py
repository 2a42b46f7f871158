"""What is asked of the process that has an SDK, and what it answers."""

from dataclasses import dataclass, field
from typing import Any, Literal

from odin_lsp.values import Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Question(Value):
    what: Literal["list", "check", "count"]
    provider: str
    model: str = ""
    key: str = ""
    network: dict[str, Any] = field(default_factory=dict[str, Any])
    platforms: dict[str, Any] = field(default_factory=dict[str, Any])
    body: dict[str, Any] = field(default_factory=dict[str, Any])
    """Of the request whose tokens are to be counted."""


@dataclass(frozen=True, slots=True)
class AccountModel(Value):
    ref: str
    """`provider/model`."""
    title: str = ""
    context: int = 0
    """0: the provider does not say."""
    max_output: int = 0


@dataclass(frozen=True, slots=True)
class Answered(Value):
    models: tuple[AccountModel, ...] = ()
    tokens: int | None = None
    problem: str = ""
    """Why there is nothing, in words for the user."""
    kind: Literal["", "refused", "unreachable", "unknown"] = ""
    """Of a problem: whether the key is wrong, the provider cannot be reached, or it does not say."""
