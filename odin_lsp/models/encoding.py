"""Messages as they are sent: each is made once and kept as long as it lives, so that a request costs what is new."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from operator import call, is_
from typing import Any, Generic, TypeVar
from weakref import ref

from odin_lsp.messages import Message, Role
from odin_lsp.models.base import Request

T = TypeVar("T")

LAST = 4
"""Turns at the end of a conversation that the next request may send otherwise: up to the last two of the user the cache
is to reach, and the last of all may go on."""
CONVERSATIONS = 8
"""Of which the turns are kept, the last that were sent."""
_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


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

    def forget(self, message: Message) -> None:
        self._made.pop(id(message), None)


@dataclass(frozen=True, slots=True)
class Blocks:
    """The parts of a message, as a provider has them. It wants results before all else in a turn."""

    role: Role
    results: tuple[bytes, ...]
    others: tuple[bytes, ...]


@dataclass(slots=True)
class Turn:
    """Messages of one role that follow each other; empty ones are left out."""

    role: Role
    end: int
    """How many messages of the conversation it ends behind."""
    results: list[bytes] = field(default_factory=list[bytes])
    others: list[bytes] = field(default_factory=list[bytes])

    @property
    def blocks(self) -> list[bytes]:
        return [*self.results, *self.others]


@dataclass(slots=True)
class _Settled:
    """The turns of a conversation that stay as they are, whatever is said next."""

    messages: list[ref[Message]] = field(default_factory=list[ref[Message]])
    turns: list[bytes] = field(default_factory=list[bytes])

    def begins(self, messages: Sequence[Message]) -> bool:
        return len(self.messages) <= len(messages) and all(map(is_, map(call, self.messages), messages))


class Turns:
    """Conversations as they are sent, turn by turn. What has settled is not looked at again."""

    def __init__(self, blocks: Callable[[Message], Blocks], encoded: Callable[[Turn], bytes]) -> None:
        self._kept = Kept(blocks)
        self._encoded = encoded
        self._settled: list[_Settled] = []

    def of(self, messages: Sequence[Message]) -> tuple[list[bytes], list[Turn]]:
        """What has settled, as it is sent, and the last turns."""
        known = (it for it in self._settled if it.begins(messages))
        settled = max(known, key=lambda it: len(it.messages), default=None) or _Settled()
        begun = len(settled.messages)
        last: list[Turn] = []
        for end, message in enumerate(messages[begun:], begun + 1):
            blocks = self._kept.of(message)
            if not (blocks.results or blocks.others):
                continue
            if not last or last[-1].role != blocks.role:
                last.append(Turn(blocks.role, end))
            last[-1].end = end
            last[-1].results += blocks.results
            last[-1].others += blocks.others
        for turn in last[:-LAST]:
            settled.turns.append(self._encoded(turn))
            settled.messages += map(ref, messages[len(settled.messages) : turn.end])
        for message in messages[begun : len(settled.messages)]:
            self._kept.forget(message)
        if settled.messages:
            self._settled = [settled, *(it for it in self._settled if it is not settled)][:CONVERSATIONS]
        return settled.turns, last[-LAST:]


def encode(value: Any) -> bytes:
    """As JSON. A lone surrogate could not be sent, whoever wrote it."""
    return _JSON.encode(value).encode(errors="replace")


def encode_all(values: Iterable[Any]) -> bytes:
    return b",".join(map(encode, values))


def with_list(fields: bytes, name: str, items: Iterable[bytes]) -> bytes:
    """An object, and in it as its last field a list of what is encoded already. It is copied once: it may be large."""
    pieces = [*items] or [b""]
    pieces[0] = b'%b,"%b":[%b' % (fields[:-1], name.encode(), pieces[0])
    pieces[-1] += b"]}"
    return b",".join(pieces)


class Head:
    """What a request says besides the conversation: the tools, above all. Mostly that is what the last one said."""

    def __init__(self, fields: Callable[[Request], dict[str, Any]]) -> None:
        self._fields = fields
        self._of: Request | None = None
        self._encoded = b""

    def of(self, request: Request) -> bytes:
        alone = replace(request, messages=())
        if alone != self._of:
            self._of, self._encoded = alone, encode(self._fields(request))
        return self._encoded
