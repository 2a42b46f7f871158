"""A key is checked by listing models; only what a provider says is wrong is refused."""

import json

import pytest

from odin_lsp.config import Config
from odin_lsp.models.key_check import CheckedKey, KeyProvider, check
from tests.support.ports import reserved_port
from tests.support.wire import KEY, Answer, Wire

PROVIDERS: tuple[tuple[KeyProvider, str, str, str], ...] = (
    ("anthropic", "Anthropic", "/v1/models?limit=1", "authorization"),
    ("google", "Google", "/v1/models?pageSize=1", "x-goog-api-key"),
    ("openai", "OpenAI", "/models", "authorization"),
)
VARIABLES = {"anthropic": "ANTHROPIC_BASE_URL", "google": "GOOGLE_GEMINI_BASE_URL", "openai": "OPENAI_BASE_URL"}


def error(status: int, message: str, **more: object) -> Answer:
    body = json.dumps({"error": {"message": message, **more}})
    return Answer([body.encode()], status, {"content-type": "application/json"})


@pytest.mark.parametrize(("provider", "name", "target", "header"), PROVIDERS)
async def test_one_cheap_request_says_whether_a_key_is_right(
    wire: Wire, provider: KeyProvider, name: str, target: str, header: str
) -> None:
    wire.play(Answer([b"{}"]), error(401, f"wrong key:\n{KEY}"))
    assert await check(provider, KEY, Config()) == CheckedKey("accepted")
    refused = CheckedKey("refused", f"{name} does not accept this key (wrong key: [key])")
    assert await check(provider, KEY, Config()) == refused
    assert {(it.target, it.headers[header].removeprefix("Bearer ")) for it in wire.sent} == {(target, KEY)}


async def test_google_says_it_in_its_own_way(wire: Wire) -> None:
    wire.play(error(400, "API key not valid.", details=[{"reason": "API_KEY_INVALID"}]))
    assert (await check("google", KEY, Config())).verdict == "refused"


@pytest.mark.parametrize("answer", [error(403, "missing scope"), error(500, "oops"), Answer([b"<html>"], 407)])
async def test_what_says_nothing_about_the_key_leaves_it_open(wire: Wire, answer: Answer) -> None:
    wire.play(answer)
    checked = await check("openai", KEY, Config())
    assert checked.verdict == "unknown"
    assert checked.detail.startswith("OpenAI did not say whether it accepts the key (")


@pytest.mark.parametrize("provider", VARIABLES)
async def test_a_provider_that_cannot_be_reached_leaves_it_open(
    monkeypatch: pytest.MonkeyPatch, provider: KeyProvider
) -> None:
    with reserved_port() as port:
        monkeypatch.setenv(VARIABLES[provider], f"http://127.0.0.1:{port}")
        checked = await check(provider, KEY, Config())
    assert (checked.verdict, "cannot be reached" in checked.detail) == ("unknown", True)
