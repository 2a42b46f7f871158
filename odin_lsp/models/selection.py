"""Which models are asked, and which keys there are for them."""

import os
from collections.abc import Iterable, Mapping
from typing import cast

from odin_lsp.config import Config
from odin_lsp.errors import ModelError
from odin_lsp.models import catalog
from odin_lsp.models.reference import EFFORTS, Effort, ModelRef

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
    provider = named(selected).provider
    small = config.small_model or (
        f"{provider}/{catalog.DEFAULTS[provider][1]}" if provider in catalog.DEFAULTS else selected
    )
    named(small)
    return selected, small


def available(config: Config, secrets: Mapping[str, str]) -> tuple[str, ...]:
    """The models of the catalog that there is a key for; the offline one is always there."""
    providers = {provider for provider in KEY_VARIABLES if keys(provider, config, secrets)}
    return (*(it.ref for it in catalog.ENTRIES if ModelRef.of(it.ref).provider in providers), OFFLINE)


def efforts(refs: Iterable[str]) -> Mapping[str, tuple[Effort, ...]]:
    """What each of them can be told, for those that can be told any."""
    return {ref: entry.efforts for ref in refs if (entry := catalog.find(ref)).efforts}


def is_usable(text: str, config: Config, secrets: Mapping[str, str]) -> bool:
    """Whether it names a model that could be asked: there is a key, or none is needed."""
    try:
        provider = named(text).provider
    except ModelError:
        return False
    is_own_server = provider == "openai" and bool(os.environ.get("OPENAI_BASE_URL"))
    return provider in KEYLESS or is_own_server or bool(keys(provider, config, secrets))


def named(text: str) -> ModelRef:
    """The model that is meant; `ModelError` says how to write it."""
    ref = ModelRef.of(text)
    if not ref.name or ref.provider not in (*KEY_VARIABLES, *KEYLESS):
        known = ", ".join((*KEY_VARIABLES, *KEYLESS))
        raise ModelError(f"{text!r} names no model; write provider/model, with one of the providers {known}")
    model, at, word = ref.model.rpartition("@")
    if at and (word in ("", *EFFORTS) or catalog.is_listed(model)):  # a second effort, or one that does not exist
        raise ModelError(f"{text!r} names no model; {_hint(model)}")
    if ref.effort and ref.effort not in catalog.find(ref.model).efforts:
        raise ModelError(f"{text!r} cannot be used; {_hint(ref.model)}")
    return ref


def _hint(model: str) -> str:
    model = ModelRef.of(model.rstrip("@")).model
    efforts = catalog.find(model).efforts
    if not efforts:
        return f"{model} takes no effort, so write nothing behind it"
    return f"behind {model} one of these efforts may be written: {', '.join(f'@{it}' for it in efforts)}"


def keys(provider: str, config: Config, secrets: Mapping[str, str]) -> list[tuple[str, str]]:
    """The provider's keys with the names of where they come from, in the order to use them."""
    names = cast("Mapping[str, tuple[str, ...]]", config.keys).get(provider) or KEY_VARIABLES.get(provider, ())
    found = [("the editor", secrets[provider])] if secrets.get(provider) else []
    found += [(name, os.environ[name]) for name in names if os.environ.get(name)]
    unique = {key.strip(): name for name, key in reversed(found) if key.strip()}
    return [(name, key) for key, name in reversed(unique.items())]
