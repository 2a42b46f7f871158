"""Which models are asked, and which keys there are for them."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal, cast, get_args

from odin_lsp import state_folder
from odin_lsp.config import Config
from odin_lsp.errors import ModelError
from odin_lsp.models import catalog
from odin_lsp.models.local_servers import SERVERS
from odin_lsp.models.platforms.known import PLATFORMS, makers_on, sign_of
from odin_lsp.models.reference import EFFORTS, Effort, ModelRef

KEY_VARIABLES: Mapping[str, tuple[str, ...]] = {
    "anthropic": ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
    "google": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "openai": ("OPENAI_API_KEY",),
}
INSTEAD_OF_KEYS = {"openai": "OPENAI_BASE_URL"}
"""Variables that do without a key: the address of a server that wants none."""
KEYLESS = ("offline", "scripted", *SERVERS)
OFFLINE = "offline/odin"
EDITOR = "the editor"
"""Where a key comes from that the user has typed into it."""
Role = Literal["model", "small_model"]
ROLES: tuple[Role, ...] = get_args(Role)


def picks_file() -> Path:
    """Where `project.picks` keeps what the user picked."""
    return state_folder.folder() / "models.json"


def choose(config: Config, secrets: Mapping[str, str], picked: Mapping[Role, str] | None = None) -> tuple[str, str]:
    """The planner's model and the small one: as picked, else as configured, else by which key is set, else offline."""
    picked = picked or {}
    default = next((f"{it}/{catalog.DEFAULTS[it][0]}" for it in KEY_VARIABLES if has_key(it, config, secrets)), OFFLINE)
    selected = picked.get("model") or config.model or default
    provider = named(selected).provider
    beside = f"{provider}/{catalog.DEFAULTS[provider][1]}" if provider in catalog.DEFAULTS else selected
    small = picked.get("small_model") or config.small_model or beside
    named(small)
    return selected, small


def available(config: Config, secrets: Mapping[str, str]) -> tuple[str, ...]:
    """The models of the catalog that there is a key for, or a platform; the offline one is always there."""
    providers = {provider for provider in KEY_VARIABLES if has_key(provider, config, secrets)}
    keyed = (it.ref for it in catalog.ENTRIES if ModelRef.of(it.ref).provider in providers)
    return (*keyed, *(ref for it in PLATFORMS if sign_of(it, config) for ref in on_platform(it, config)), OFFLINE)


def on_platform(platform: str, config: Config) -> tuple[str, ...]:
    """The models that somebody can ask there."""
    return catalog.on_platform(platform, makers_on(platform, config))


def first_on(platform: str, config: Config) -> str:
    """The model that is offered first on a platform: the default one of its maker."""
    wanted = {catalog.DEFAULTS[maker][0] for maker in makers_on(platform, config)}
    return next(it for it in on_platform(platform, config) if any(name in it for name in wanted))


def efforts(refs: Iterable[str]) -> Mapping[str, tuple[Effort, ...]]:
    """What each of them can be told, for those that can be told any."""
    return {ref: entry.efforts for ref in refs if (entry := catalog.find(ref)).efforts}


def is_usable(text: str, config: Config, secrets: Mapping[str, str]) -> bool:
    """Whether it names a model that could be asked: there is a key, or none is needed."""
    try:
        provider = named(text).provider
    except ModelError:
        return False
    if provider in (*KEYLESS, *PLATFORMS) or os.environ.get(INSTEAD_OF_KEYS.get(provider, "")):
        return True
    return has_key(provider, config, secrets)


def named(text: str) -> ModelRef:
    """The model that is meant; `ModelError` says how to write it."""
    ref = ModelRef.of(text)
    known = (*KEY_VARIABLES, *PLATFORMS, *KEYLESS)
    if not ref.name or ref.provider not in known:
        raise ModelError(f"{text!r} names no model; write provider/model, with one of the providers {', '.join(known)}")
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


def has_key(provider: str, config: Config, secrets: Mapping[str, str]) -> bool:
    """Whether there is one, or a program that prints one."""
    return bool(keys(provider, config, secrets)) or helper(provider, config) is not None


def helper(provider: str, config: Config) -> tuple[str, ...] | None:
    """The program that prints the provider's key, if the user has one, with its arguments."""
    return cast("Mapping[str, tuple[str, ...]]", config.key_helpers).get(provider) or None


def keys(provider: str, config: Config, secrets: Mapping[str, str]) -> list[tuple[str, str]]:
    """The provider's keys with the names of where they come from, in the order to use them."""
    names = cast("Mapping[str, tuple[str, ...]]", config.keys).get(provider) or KEY_VARIABLES.get(provider, ())
    found = [(EDITOR, secrets[provider])] if secrets.get(provider) else []
    found += [(name, os.environ[name]) for name in names if os.environ.get(name)]
    unique = {key.strip(): name for name, key in reversed(found) if key.strip()}
    return [(name, key) for key, name in reversed(unique.items())]
