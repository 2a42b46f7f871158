"""From `provider/model` to something that answers: which model, which keys, which file to import."""

import asyncio
import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Protocol, cast

from odin_lsp.config import Config
from odin_lsp.errors import ModelError
from odin_lsp.models import catalog
from odin_lsp.models.base import Connection, Model, Network

KEY_VARIABLES: Mapping[str, tuple[str, ...]] = {
    "anthropic": ("ANTHROPIC_API_KEY",),
    "google": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "openai": ("OPENAI_API_KEY",),
}
KEYLESS = ("offline", "scripted")
OFFLINE = "offline/odin"
EXTRAS = {"openai": "odin-lsp[openai]"}


@dataclass(frozen=True, slots=True)
class Candidate:
    """One way to reach a model."""

    ref: str
    key: str | None
    key_name: str
    """Where the key comes from; safe to show."""


class Provider(Protocol):
    """What each provider's module offers."""

    def connect(self, name: str, connection: Connection) -> Model: ...


def choose(config: Config, secrets: Mapping[str, str]) -> tuple[str, str]:
    """The planner's model and the small one: as configured, else by which key is set, else offline."""
    selected = config.model or next(
        (f"{it}/{catalog.DEFAULTS[it][0]}" for it in KEY_VARIABLES if keys(it, config, secrets)), OFFLINE
    )
    provider, _ = split(selected)
    small = config.small_model or (
        f"{provider}/{catalog.DEFAULTS[provider][1]}" if provider in catalog.DEFAULTS else selected
    )
    split(small)
    return selected, small


def split(ref: str) -> tuple[str, str]:
    provider, slash, name = ref.partition("/")
    if not slash or not name or provider not in (*KEY_VARIABLES, *KEYLESS):
        known = ", ".join((*KEY_VARIABLES, *KEYLESS))
        raise ModelError(f"{ref!r} names no model; write provider/model, with one of the providers {known}")
    return provider, name


def keys(provider: str, config: Config, secrets: Mapping[str, str]) -> list[tuple[str, str]]:
    """The provider's keys with the names of where they come from, in the order to use them."""
    names = cast("Mapping[str, tuple[str, ...]]", config.keys).get(provider) or KEY_VARIABLES.get(provider, ())
    found = [("the editor", secrets[provider])] if secrets.get(provider) else []
    found += [(name, os.environ[name]) for name in names if os.environ.get(name)]
    unique = {key.strip(): name for name, key in reversed(found) if key.strip()}
    return [(name, key) for key, name in reversed(unique.items())]


def candidates(ref: str, config: Config, secrets: Mapping[str, str]) -> list[Candidate]:
    """The ways to reach `ref`. Without a key there is still one: not every provider needs a key, and some say why."""
    provider, _ = split(ref)
    return [Candidate(ref, key, name) for name, key in keys(provider, config, secrets)] or [Candidate(ref, None, "")]


async def connect(candidate: Candidate, config: Config) -> Model:
    """A model that can be asked. In a thread: importing an SDK and reading certificates takes a second or two."""
    provider, name = split(candidate.ref)
    network = Network(proxy=config.network.proxy, ca_bundle=config.network.ca_bundle)
    return await asyncio.to_thread(lambda: load(provider).connect(name, Connection(candidate.key, network)))


def load(provider: str) -> Provider:
    try:
        return cast("Provider", import_module(f"odin_lsp.models.{provider}"))
    except ImportError as error:
        extra = EXTRAS.get(provider, "odin-lsp")
        raise ModelError(f"{provider} is not installed ({error.name} is missing): pip install '{extra}'") from error
