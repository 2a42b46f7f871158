"""How many tokens a request would have, as its provider counts. The body is the one that a turn would send."""

import asyncio
from collections.abc import Mapping

from odin_lsp.config import Config
from odin_lsp.errors import ModelUnavailable
from odin_lsp.models.base import Request
from odin_lsp.models.key import ask_with
from odin_lsp.models.key_helper import KeyHelpers
from odin_lsp.models.platforms.known import PLATFORMS
from odin_lsp.models.reference import ModelRef
from odin_lsp.models.selection import KEY_VARIABLES

COUNTING = ("anthropic", "google", *PLATFORMS)
"""Of a platform its SDK knows."""


async def count_tokens(
    ref: ModelRef, request: Request, config: Config, secrets: Mapping[str, str], helpers: KeyHelpers
) -> int:
    """A `ModelError` says in a sentence why there is no count."""
    from odin_lsp.models.account import asking

    if ref.provider not in COUNTING:
        raise ModelUnavailable(f"the provider of {ref.model} does not count tokens")
    key = helpers.first_key(ref.provider, config, secrets)
    if key is None and ref.provider in KEY_VARIABLES:
        raise ModelUnavailable(f"there is no key to count with; set {KEY_VARIABLES[ref.provider][0]}")
    body = await asyncio.to_thread(_body, ref, request)

    async def count(key: str) -> int:
        return await asking.count_tokens(ref.provider, ref.name, body, key, config)

    return await (count("") if key is None else ask_with(key, count))


def _body(ref: ModelRef, request: Request) -> bytes:
    from odin_lsp.models import anthropic, google

    is_gemini = ref.provider == "google" or ref.name.startswith("gemini")
    return (google.Bodies(ref) if is_gemini else anthropic.Bodies(ref)).of(request)
