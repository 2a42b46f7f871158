"""Whether a provider takes a key, by the cheapest request there is: for the list of its models, with the headers of a
turn. Where there is an SDK it asks."""

import asyncio
import os
from dataclasses import dataclass, replace
from typing import Literal

import httpx2

from odin_lsp.config import Config
from odin_lsp.errors import ModelError
from odin_lsp.models import bodies
from odin_lsp.models.account.asking import ask, listed, question, quoted
from odin_lsp.models.account.listing import NAMES
from odin_lsp.models.account.questions import AccountModel, Answered
from odin_lsp.models.line import OWN_HEADERS, custom_headers
from odin_lsp.models.providers import network_of
from odin_lsp.models.service import http_client, string
from odin_lsp.values import Value, is_list, is_object

KeyProvider = Literal["anthropic", "google", "openai"]
SECONDS = 10.0
MOST_LISTED = 8 * 2**20
"""Bytes of a list of models."""


@dataclass(frozen=True, slots=True)
class CheckedKey(Value):
    verdict: Literal["accepted", "refused", "unknown"]
    """`unknown`: the provider cannot be reached, or does not say."""
    detail: str = ""
    """Why, in words for the user."""


async def check(provider: KeyProvider, key: str, config: Config) -> CheckedKey:
    """Only a key that the provider says is wrong is refused: one that may not list models may still be good."""
    if provider == "openai":
        answered = await _ask_openai(key, config)
    else:
        try:
            answered = await ask(question("check", provider, key, config))
        except ModelError as error:
            answered = Answered(problem=str(error), kind="unreachable")
    name, said = NAMES[provider], quoted(answered.problem, key)
    match answered.kind:
        case "":
            return CheckedKey("accepted")
        case "refused":
            return CheckedKey("refused", f"{name} does not accept this key ({said})")
        case "unreachable":
            return CheckedKey("unknown", f"{name} cannot be reached ({said})")
        case "unknown":
            return CheckedKey("unknown", f"{name} did not say whether it accepts the key ({said})")


async def list_openai(key: str, config: Config) -> tuple[AccountModel, ...]:
    """Of OpenAI, or the server at its address; a `ModelError` says why there are none to be had, and what to do."""
    return listed(await _ask_openai(key, config), key)


async def _ask_openai(key: str, config: Config) -> Answered:
    address = (os.environ.get("OPENAI_BASE_URL") or "https://api.openai.com/v1").rstrip("/")
    network = replace(network_of(config), timeout=SECONDS)
    try:
        headers = {**OWN_HEADERS, "authorization": f"Bearer {key}", **custom_headers("OPENAI_CUSTOM_HEADERS")}
        async with (
            await asyncio.to_thread(http_client, network) as client,
            client.stream("GET", f"{address}/models", headers=headers) as answer,
        ):
            body = await bodies.beginning(answer, MOST_LISTED)
    except (httpx2.HTTPError, httpx2.InvalidURL, ModelError, UnicodeEncodeError) as error:
        return Answered(problem=str(error) or type(error).__name__, kind="unreachable")
    if answer.is_success:
        return Answered(models=_models(bodies.parsed(body)))
    problem = _message(body) or f"status {answer.status_code}"
    return Answered(problem=problem, kind="refused" if answer.status_code == 401 else "unknown")


def _models(listed: object) -> tuple[AccountModel, ...]:
    found = listed.get("data") if is_object(listed) else None
    named = [string(it, "id") for it in filter(is_object, found if is_list(found) else ())]
    return tuple(AccountModel(f"openai/{name}") for name in named if name)


def _message(body: bytes) -> str:
    match bodies.parsed(body):
        case {"error": {"message": str(message)}}:
            return message
        case _:
            return ""
