"""A command is a function that takes one object. Adding one is adding it to a file of this package."""

import pkgutil
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, TypeVar

from lsprotocol import types

from odin_lsp.server import commands
from odin_lsp.server.host import Work
from odin_lsp.values import Value, from_wire

P = TypeVar("P", bound=Value)
Token = types.ProgressToken | None


@dataclass(frozen=True, slots=True)
class Command:
    name: str
    params: type[Value]
    answer: Callable[..., Awaitable[dict[str, Any]]]

    async def __call__(self, server: Work, argument: Any, token: Token) -> dict[str, Any]:
        return await self.answer(server, from_wire(self.params, argument), token)


def command(name: str, params: type[P]) -> Callable[[Callable[[Work, P, Token], Awaitable[dict[str, Any]]]], Command]:
    """Make a command of a function; it also gets the client's progress token, if there is one."""
    return lambda answer: Command(name, params, answer)


@cache
def all_commands() -> Mapping[str, Command]:
    """Every command in this package, by name."""
    modules = [import_module(it.name) for it in pkgutil.iter_modules(commands.__path__, f"{commands.__name__}.")]
    found = [value for module in modules for value in vars(module).values() if isinstance(value, Command)]
    return {it.name: it for it in found}
