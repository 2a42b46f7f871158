"""Whether a provider takes a key, by the cheapest request there is: for the list of its models."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import httpx2

from odin_lsp.config import Config
from odin_lsp.errors import ModelError
from odin_lsp.models.anthropic import VERSION
from odin_lsp.models.base import Network
from odin_lsp.models.service import http_client
from odin_lsp.values import Value

KeyProvider = Literal["anthropic", "google", "openai"]
SECONDS = 10.0
MAX_WORDS = 200


@dataclass(frozen=True, slots=True)
class CheckedKey(Value):
    verdict: Literal["accepted", "refused", "unknown"]
    """`unknown`: the provider cannot be reached, or does not say."""
    detail: str = ""
    """Why, in words for the user."""


@dataclass(frozen=True, slots=True)
class _Listing:
    name: str
    variable: str
    usual: str
    path: str
    header: str
    more: Mapping[str, str]

    def headers(self, key: str) -> Mapping[str, str]:
        return {self.header: f"Bearer {key}" if self.header == "authorization" else key, **self.more}

    @property
    def url(self) -> str:
        return f"{(os.environ.get(self.variable) or self.usual).rstrip('/')}{self.path}"


_LISTINGS: Mapping[KeyProvider, _Listing] = {
    "anthropic": _Listing(
        "Anthropic",
        "ANTHROPIC_BASE_URL",
        "https://api.anthropic.com",
        "/v1/models?limit=1",
        "x-api-key",
        {"anthropic-version": VERSION},
    ),
    "google": _Listing(
        "Google",
        "GOOGLE_GEMINI_BASE_URL",
        "https://generativelanguage.googleapis.com",
        "/v1beta/models?pageSize=1",
        "x-goog-api-key",
        {},
    ),
    "openai": _Listing("OpenAI", "OPENAI_BASE_URL", "https://api.openai.com/v1", "/models", "authorization", {}),
}


async def check(provider: KeyProvider, key: str, config: Config) -> CheckedKey:
    """Only a key that the provider says is wrong is refused: one that may not list models may still be good."""
    listing = _LISTINGS[provider]
    network = Network(config.network.proxy, config.network.ca_bundle, SECONDS)
    try:
        async with http_client(network) as client:
            answer = await client.get(listing.url, headers=listing.headers(key))
    except (httpx2.HTTPError, httpx2.InvalidURL, ModelError, UnicodeEncodeError) as error:
        said = _quoted(str(error) or type(error).__name__, key)
        return CheckedKey("unknown", f"{listing.name} cannot be reached ({said})")
    if answer.is_success:
        return CheckedKey("accepted")
    said = _quoted(_message(answer), key)
    if answer.status_code == 401 or "API_KEY_INVALID" in answer.text:
        return CheckedKey("refused", f"{listing.name} does not accept this key ({said})")
    return CheckedKey("unknown", f"{listing.name} did not say whether it accepts the key ({said})")


def _message(answer: httpx2.Response) -> str:
    try:
        match answer.json():
            case {"error": {"message": str(message)}}:
                return message
            case _:
                return f"status {answer.status_code}"
    except ValueError:
        return f"status {answer.status_code}"


def _quoted(words: str, key: str) -> str:
    return " ".join(words.replace(key, "[key]").split())[:MAX_WORDS]
