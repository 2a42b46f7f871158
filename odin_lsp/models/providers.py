"""From a reference to something that answers."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Protocol, cast
from urllib.request import getproxies

from odin_lsp.config import Config
from odin_lsp.models.base import Connection, Model, Network
from odin_lsp.models.key_helper import KeyHelper, KeyHelpers
from odin_lsp.models.local_servers import SERVERS
from odin_lsp.models.platforms.known import PLATFORMS
from odin_lsp.models.reference import ModelRef
from odin_lsp.models.selection import EDITOR, KEYLESS, keys, named


@dataclass(frozen=True, slots=True)
class Candidate:
    """One way to reach a model."""

    ref: str
    """`provider/model[@effort]`"""
    key: str | None
    key_name: str
    """Where the key comes from; safe to show."""
    helper: KeyHelper | None = None
    """Prints the key when it is needed."""

    @property
    def credential(self) -> str:
        """What rests if the provider refuses it. A platform has its own, and no key."""
        return self.key or (self.helper.setting if self.helper else self.ref.partition("/")[0])


class Provider(Protocol):
    """What each provider's module offers."""

    def connect(self, ref: ModelRef, connection: Connection) -> Model: ...


def candidates(ref: str, config: Config, secrets: Mapping[str, str], helpers: KeyHelpers) -> list[Candidate]:
    """The ways to reach `ref`: a key that is set goes before one that a program prints. Without a key there is still
    one: not every provider needs a key, and some say why."""
    provider = named(ref).provider
    found = [Candidate(ref, key, name) for name, key in keys(provider, config, secrets)]
    if helper := helpers.of(provider, config):
        found.append(Candidate(ref, None, helper.setting, helper))
    return found or [Candidate(ref, None, "")]


def is_proxied(ref: str, config: Config) -> bool:
    """Whether requests to it go through a proxy, of the settings or of the environment."""
    if named(ref).provider in KEYLESS:
        return False
    return bool(config.network.proxy or {"https", "all"} & getproxies().keys())


async def connect(candidate: Candidate, config: Config) -> Model:
    """A model that can be asked. In a thread: reading certificates takes its time."""
    ref = named(candidate.ref)
    network = network_of(config)
    connection = Connection(candidate.key, network, _place(candidate.key_name), config.platforms, candidate.helper)
    model = await asyncio.to_thread(lambda: load(ref.provider).connect(ref, connection))
    entry = config.models.get(ref.model)
    if entry is None or not entry.written_calls:
        return model
    from odin_lsp.models.written_calls import ReadsWrittenCalls

    return ReadsWrittenCalls(model, entry.written_calls)


def network_of(config: Config) -> Network:
    return Network(**config.network.model_dump())


def _place(key_name: str) -> str:
    return f"the key in {key_name}" if key_name == EDITOR else key_name


def load(provider: str) -> Provider:
    module = "local" if provider in SERVERS else f"platforms.{provider}" if provider in PLATFORMS else provider
    return cast("Provider", import_module(f"odin_lsp.models.{module}"))
