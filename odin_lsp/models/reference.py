"""How a model is named: `provider/model[@effort]`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

Effort = Literal["low", "medium", "high"]
EFFORTS: tuple[Effort, ...] = get_args(Effort)
_BY_WORD: Mapping[str, Effort] = {it: it for it in EFFORTS}


@dataclass(frozen=True, slots=True)
class ModelRef:
    provider: str
    name: str
    effort: Effort | None = None
    """How hard it should think; none: as its provider has it."""

    @classmethod
    def of(cls, text: str) -> "ModelRef":
        """Only an effort behind the last `@` is one: the name itself may have an `@`. `selection.named` says whether
        there is such a model."""
        provider, _, rest = text.partition("/")
        name, _, word = rest.rpartition("@")
        effort = _BY_WORD.get(word)
        return cls(provider, name, effort) if name and effort else cls(provider, rest)

    @property
    def model(self) -> str:
        """`provider/model`: what prices, windows and keys go by."""
        return f"{self.provider}/{self.name}"

    def __str__(self) -> str:
        return f"{self.model}@{self.effort}" if self.effort else self.model
