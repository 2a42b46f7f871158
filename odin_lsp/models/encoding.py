"""Messages as they are sent: each is made once and kept as long as it lives, so that a request costs what is new."""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, groupby
from operator import attrgetter
from typing import Any, Generic, TypeVar
from weakref import ref

from odin_lsp.messages import Message, Role

T = TypeVar("T")

_ROLE, _RESULTS, _OTHERS = map(attrgetter, ("role", "results", "others"))


class Kept(Generic[T]):
    """What is made of a message, once. Messages never change, so they are known by their identity."""

    def __init__(self, make: Callable[[Message], T]) -> None:
        self._make = make
        self._made: dict[int, tuple[ref[Message], T]] = {}

    def __len__(self) -> int:
        return len(self._made)

    def of(self, message: Message) -> T:
        key = id(message)
        found = self._made.get(key)
        if found is None:
            made = self._made
            found = made[key] = ref(message, lambda _: made.pop(key, None)), self._make(message)
        return found[1]


@dataclass(frozen=True, slots=True)
class Blocks(Generic[T]):
    """The parts of a message, as a provider has them. It wants results before all else in a turn."""

    role: Role
    results: tuple[T, ...]
    others: tuple[T, ...]


def turns(messages: Iterable[Blocks[T]]) -> Iterator[tuple[Role, list[T]]]:
    """Messages of one role that follow each other are one turn; empty ones are left out."""
    for role, turn in groupby((it for it in messages if it.results or it.others), key=_ROLE):
        said = list(turn)
        yield role, [*chain.from_iterable(map(_RESULTS, said)), *chain.from_iterable(map(_OTHERS, said))]


def encode(value: Any) -> bytes:
    """As JSON. A lone surrogate could not be sent, whoever wrote it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(errors="replace")


def encode_all(values: Iterable[Any]) -> bytes:
    return b",".join(map(encode, values))


def with_list(fields: dict[str, Any], name: str, items: Iterable[bytes]) -> bytes:
    """An object whose last field is a list of what is encoded already."""
    return b'%b,"%b":[%b]}' % (encode(fields)[:-1], name.encode(), b",".join(items))
