"""Find a tool by words: what its name says counts most, then its description, then its arguments. Pure."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from math import log

from odin_lsp.mcp.offered import Offered

_WORD = re.compile(r"[a-z]+|\d+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
NAME, DESCRIPTION, ARGUMENTS = 4.0, 1.0, 0.5


def best(query: str, offered: Iterable[Offered], most: int) -> list[Offered]:
    """Those that meet a word of the query, the best first. A word that few have tells more."""
    tools = list(offered)
    words = set(_words(query))
    if not words:
        return []
    weights = [_weights(it) for it in tools]
    having = Counter(word for it in weights for word in words if _met(word, it))
    scores = [
        sum(_met(word, it) * log(1 + len(tools) / having[word]) for word in words if having[word]) for it in weights
    ]
    order = sorted(range(len(tools)), key=lambda index: (-scores[index], index))
    return [tools[index] for index in order[:most] if scores[index] > 0]


def _weights(tool: Offered) -> dict[str, float]:
    weights: dict[str, float] = {}
    for text, weight in (
        (" ".join(tool.schema["properties"]), ARGUMENTS),
        (tool.description, DESCRIPTION),
        (f"{tool.server} {tool.definition.name}", NAME),
    ):
        for word in _words(text):
            weights[word] = max(weight, weights.get(word, 0))
    return weights


def _met(word: str, weights: dict[str, float]) -> float:
    """A word that only begins alike counts less: `commits` and `commit`."""
    if word in weights:
        return weights[word]
    alike = (it for known, it in weights.items() if len(known) > 3 and len(word) > 3 and _alike(word, known))
    return 0.7 * max(alike, default=0.0)


def _alike(one: str, other: str) -> bool:
    return one.startswith(other) or other.startswith(one)


def _words(text: str) -> Sequence[str]:
    return _WORD.findall(_HUMP.sub(" ", text).lower())
