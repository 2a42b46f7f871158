"""Which models are asked, and which keys there are for them."""

import os
from collections.abc import Mapping
from typing import cast

from odin_lsp.config import Config
from odin_lsp.errors import ModelError
from odin_lsp.models import catalog

KEY_VARIABLES: Mapping[str, tuple[str, ...]] = {
    "anthropic": ("ANTHROPIC_API_KEY",),
    "google": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "openai": ("OPENAI_API_KEY",),
}
KEYLESS = ("offline", "scripted")
OFFLINE = "offline/odin"


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


def available(config: Config, secrets: Mapping[str, str]) -> tuple[str, ...]:
    """The models of the catalog that there is a key for; the offline one is always there."""
    providers = {provider for provider in KEY_VARIABLES if keys(provider, config, secrets)}
    return (*(it.ref for it in catalog.ENTRIES if it.ref.partition("/")[0] in providers), OFFLINE)


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
