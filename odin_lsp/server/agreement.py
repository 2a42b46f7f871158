"""Whether a process of the user may work through this one: it must find here what it would work with by itself."""

from collections.abc import Iterator, Mapping
from typing import Any, cast

from odin_lsp import __version__
from odin_lsp.config import ENVIRONMENT
from odin_lsp.host.terms import NOT_COMPARED, Terms, compared, digest_of
from odin_lsp.models import selection
from odin_lsp.models.platforms.known import PLATFORMS
from odin_lsp.project.project import Situation
from odin_lsp.values import is_object

PLACES = ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME")
"""Where settings and sessions are."""
ADDRESSES = (
    *("ANTHROPIC_BASE_URL", "GOOGLE_GEMINI_BASE_URL", "OPENAI_BASE_URL"),
    *("HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy"),
    *(name for it in PLATFORMS.values() for name in (*it.signs, *it.variables)),
)


def disagreement(terms: Terms, now: Situation, environment: Mapping[str, str]) -> str | None:
    """Why a process with these terms has to work by itself, if so."""
    return other_version(terms) or next(_disagreements(terms, now, environment), None)


def other_version(terms: Terms) -> str | None:
    """All that matters to an agent of others: for its calls no model is asked."""
    is_same = terms.version == __version__
    return None if is_same else f"it is version {__version__}, and this is {terms.version}"


def _disagreements(terms: Terms, now: Situation, environment: Mapping[str, str]) -> Iterator[str]:
    if now.is_restricted:
        yield "the editor has opened this folder in restricted mode"
    settled = [name for name, setting in ENVIRONMENT.items() if setting not in NOT_COMPARED]
    for name in (*PLACES, *ADDRESSES, *settled):
        here = digest_of(environment[name]) if environment.get(name) else None
        if terms.environment.get(name) != here:
            yield f"it has another {name}"
    named = cast("Mapping[str, tuple[str, ...]]", now.config.keys)
    for provider, usual in selection.KEY_VARIABLES.items():
        names = named.get(provider) or usual
        known = {digest_of(key) for _, key in selection.keys(provider, now.config, now.secrets)}
        yield from (f"it has another {name}" for name in names if terms.environment.get(name, "") not in {"", *known})
    config = now.config.model_dump(by_alias=True, mode="json") | {"model": now.models[0]} if terms.settings else {}
    for name, value in compared(terms.settings):
        if _of(config, name) != value:
            yield f"its `{name}` is {_of(config, name)!r}"


def _of(config: Mapping[str, Any], name: str) -> Any:
    value: Any = config
    for part in name.split("."):
        value = value.get(part) if is_object(value) else None
    return value
