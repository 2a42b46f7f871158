"""The key by which a request proves whose it is: one that is known from the start, or one that a program prints."""

import os
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from odin_lsp.errors import KeyRejected
from odin_lsp.models.base import Connection

V = TypeVar("V")


class Key(Protocol):
    @property
    def value(self) -> str:
        """The last one, as far as there has been one."""
        ...

    async def current(self) -> str:
        """The one to send now; `KeyRejected` if there is none to be had."""
        ...

    async def renew(self, refused: str) -> bool:
        """Whether there is another one now than that which was refused."""
        ...


@dataclass(frozen=True, slots=True)
class PlainKey:
    value: str = field(repr=False)

    async def current(self) -> str:
        return self.value

    async def renew(self, refused: str) -> bool:
        return False


async def ask_with(key: Key, ask: Callable[[str], Awaitable[V]]) -> V:
    """What `ask` answers. If it raises `KeyRejected` it is asked once more, should there be another key."""
    value = await key.current()
    try:
        return await ask(value)
    except KeyRejected:
        if not await key.renew(value):
            raise
    return await ask(await key.current())


def find_key(provider: str, connection: Connection, *variables: str) -> Key:
    """The key that was given, or the first in the environment; `KeyRejected` if there is none to send."""
    if connection.helper:
        return connection.helper
    place = connection.key_place or variables[0]
    found = connection.key or next(filter(None, map(os.environ.get, variables)), "")
    key = found.strip().removeprefix("Bearer ").strip()
    if not key:
        raise KeyRejected(f"there is no key for {provider}; set {variables[0]}")
    if not is_sendable(key):
        raise KeyRejected(
            f"the key for {provider} has spaces, line breaks or characters that keys do not have;"
            f" copy it again, whole and alone, into {place.removeprefix('the key in ')}"
        )
    return PlainKey(key)


def is_sendable(key: str) -> bool:
    return bool(re.fullmatch(r"[!-~]+", key))
