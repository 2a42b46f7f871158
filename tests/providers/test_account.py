"""What an account has, as the SDKs say it: in a process of its own, which ends after its answer."""

import asyncio
import json
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from odin_lsp import Workspace
from odin_lsp.config import Config
from odin_lsp.errors import KeyRejected, ModelUnavailable
from odin_lsp.host.remote import model_names
from odin_lsp.messages import user
from odin_lsp.models import anthropic, google
from odin_lsp.models.account import asking
from odin_lsp.models.account.asking import ask, count_tokens, list_models, question
from odin_lsp.models.base import Request, ToolSpec
from odin_lsp.models.key_check import check
from odin_lsp.models.reference import ModelRef
from tests.support.platforms import token_service, write_google_credentials
from tests.support.wire import KEY, Answer

SDK = {"anthropic": ("user-agent", "AsyncAnthropic"), "google": ("x-goog-api-client", "google-genai-sdk/")}
"""A header, and what is in it if the SDK has made it."""
REQUEST = Request(("Be brief.",), (user("a"),), (ToolSpec("ls", "List.", {"type": "object"}),))
CLAUDE = {
    "id": "claude-new-1",
    "type": "model",
    "display_name": "Claude New",
    "created_at": "2026-11-01T00:00:00Z",
    "lifecycle": "active",
    "max_input_tokens": 200_000,
    "max_tokens": 64_000,
}
GEMINI = {
    "name": "models/gemini-new",
    "displayName": "Gemini New",
    "inputTokenLimit": 1000,
    "outputTokenLimit": 100,
    "supportedGenerationMethods": ["generateContent"],
}


def told(body, status=200):
    return Answer([json.dumps(body).encode()], status, {"content-type": "application/json"}, framing="length")


def is_by_sdk(provider, sent):
    header, words = SDK[provider]
    return words in sent.headers[header]


async def test_anthropic_lists_what_the_account_has(wire):
    wire.play(told({"data": [CLAUDE, {**CLAUDE, "id": "old", "lifecycle": "retired"}], "has_more": False}))
    (found,) = await list_models("anthropic", KEY, Config())
    assert (found.ref, found.title) == ("anthropic/claude-new-1", "Claude New")
    assert (found.context, found.max_output) == (200_000, 64_000)
    assert wire.sent[0].headers["authorization"] == f"Bearer {KEY}"
    assert is_by_sdk("anthropic", wire.sent[0])


async def test_google_lists_what_the_account_has(wire):
    wire.play(
        told({"models": [GEMINI, {**GEMINI, "name": "models/e", "supportedGenerationMethods": ["embedContent"]}]})
    )
    (found,) = await list_models("google", KEY, Config())
    assert (found.ref, found.title, found.context, found.max_output) == ("google/gemini-new", "Gemini New", 1000, 100)
    assert wire.sent[0].headers["x-goog-api-key"] == KEY
    assert is_by_sdk("google", wire.sent[0])


@pytest.mark.parametrize("provider", ["anthropic", "google"])
async def test_a_key_is_checked_by_the_sdk_with_the_headers_of_a_turn(wire, provider, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Team: odin")
    wire.play(told({"data": [], "has_more": False, "models": []}))
    assert (await check(provider, KEY, Config())).verdict == "accepted"
    (sent,) = wire.sent
    assert is_by_sdk(provider, sent)
    assert "x-api-key" not in sent.headers
    assert sent.headers.get("x-team") == ("odin" if provider == "anthropic" else None)


@pytest.mark.parametrize("what", ["list", "check", "count"])
@pytest.mark.parametrize("provider", ["anthropic", "google"])
async def test_without_the_sdk_nobody_is_asked(wire, monkeypatch, provider, what):
    """So nothing but the SDK asks, whatever a header says."""
    hidden = "sys.modules['anthropic'] = sys.modules['google.genai'] = None"
    script = f"import sys; {hidden}; from odin_lsp.models.account.__main__ import main; main()"
    monkeypatch.setattr(asking, "PROCESS", (sys.executable, "-c", script))
    with pytest.raises(ModelUnavailable):
        await ask(
            question(what, provider, KEY, Config(), model="claude-sonnet-5-5" if provider == "anthropic" else "g")
        )
    assert wire.sent == []


async def test_anthropic_counts_a_whole_request(wire):
    body = anthropic.Bodies(ModelRef.of("anthropic/claude-sonnet-5-5")).of(REQUEST)
    wire.play(told({"input_tokens": 4711}))
    assert await count_tokens("anthropic", "claude-sonnet-5-5", body, KEY, Config()) == 4711
    (sent,) = wire.sent
    assert sent.target == "/v1/messages/count_tokens"
    whole = json.loads(body)
    assert sent.body == {it: whole[it] for it in ("model", "messages", "system", "tools", "thinking")}
    assert is_by_sdk("anthropic", sent)


async def test_google_counts_a_whole_request(wire):
    body = google.Bodies(ModelRef.of("google/gemini-3.8-flash")).of(REQUEST)
    wire.play(told({"totalTokens": 815}))
    assert await count_tokens("google", "gemini-3.8-flash", body, KEY, Config()) == 815
    (sent,) = wire.sent
    assert sent.target.endswith("/models/gemini-3.8-flash:countTokens")
    assert sent.body["generateContentRequest"] == {"model": "models/gemini-3.8-flash", **json.loads(body)}
    assert is_by_sdk("google", sent)


@pytest.mark.parametrize(
    ("model", "target", "answer"),
    [
        ("claude-sonnet-5-5", "/publishers/anthropic/models/count-tokens:rawPredict", {"input_tokens": 12}),
        ("gemini-3.8-flash", "/publishers/google/models/gemini-3.8-flash:countTokens", {"totalTokens": 12}),
    ],
)
async def test_vertex_counts_with_the_credentials_that_the_sdk_finds(
    wire, tmp_path, monkeypatch, model, target, answer
):
    adapter = google if "gemini" in model else anthropic
    body = adapter.Bodies(ModelRef.of(f"vertex/{model}")).of(REQUEST)
    with token_service() as tokens:
        write_google_credentials(tmp_path / "google.json", tokens)
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "google.json"))
        for name in ("ANTHROPIC_VERTEX_BASE_URL", "GOOGLE_VERTEX_BASE_URL"):
            monkeypatch.setenv(name, wire.url)
        config = Config.model_validate({"platforms": {"vertex": {"project": "mine", "region": "us"}}})
        wire.play(told(answer))
        assert await count_tokens("vertex", model, body, "", config) == 12
    (sent,) = wire.sent
    assert "/projects/mine/locations/us/" in sent.target
    assert sent.target.endswith(target)
    assert sent.headers["authorization"] == "Bearer token-1"


async def test_bedrock_counts_nothing_and_says_so(monkeypatch):
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    body = anthropic.Bodies(ModelRef.of("bedrock/anthropic.claude-sonnet-5-5")).of(REQUEST)
    with pytest.raises(ModelUnavailable, match="Amazon Bedrock does not count tokens"):
        await count_tokens("bedrock", "anthropic.claude-sonnet-5-5", body, "", Config())


async def test_a_refusal_is_told_in_the_providers_words(wire):
    wire.play(told({"type": "error", "error": {"type": "permission_error", "message": "no lists for you"}}, 403))
    with pytest.raises(ModelUnavailable, match="no lists for you"):
        await list_models("anthropic", KEY, Config())


async def test_the_key_goes_by_stdin_and_no_other_one_along(monkeypatch, tmp_path):
    seen = tmp_path / "seen"
    script = (
        "import json, os, sys\n"
        "line = sys.stdin.readline()\n"
        f"open({str(seen)!r}, 'w').write(json.dumps([sys.argv, dict(os.environ), line]))\n"
        "print('{}')\n"
    )
    monkeypatch.setattr(asking, "PROCESS", (sys.executable, "-c", script))
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, "another-key-0123")

    await ask(question("list", "anthropic", KEY, Config()))

    arguments, environment, line = json.loads(seen.read_text())
    assert KEY in line
    assert KEY not in str(arguments)
    assert KEY not in str(environment)
    assert "another-key-0123" not in str(environment)


@pytest.mark.parametrize(
    "script",
    ["import time; time.sleep(600)", "print('x' * 5_000_000)", "print('no JSON')", "raise SystemExit(3)"],
    ids=["silent", "too long", "no answer", "crashed"],
)
async def test_a_process_that_does_not_answer_is_given_up(monkeypatch, script):
    monkeypatch.setattr(asking, "PROCESS", (sys.executable, "-c", script))
    with pytest.raises(ModelUnavailable):
        await ask(question("list", "anthropic", KEY, Config()), seconds=2 if "sleep" in script else 60)


async def test_it_ends_with_whoever_has_asked(wire, tmp_path):
    """Also if that is killed: then its stdin ends."""
    wire.play(Answer([b"{"], headers={"content-type": "application/json"}, held=True))
    script = (
        "import asyncio, sys\n"
        "from odin_lsp.config import Config\n"
        "from odin_lsp.models.account import asking\n"
        f"asyncio.run(asking.list_models('anthropic', {KEY!r}, Config()))\n"
    )
    parent = await asyncio.create_subprocess_exec(sys.executable, "-c", script, cwd=tmp_path)
    while not wire.sent:
        await asyncio.sleep(0.01)
    children = Path(f"/proc/{parent.pid}/task/{parent.pid}/children").read_text().split()
    assert len(children) == 1

    parent.kill()
    await parent.wait()
    async with asyncio.timeout(60):
        while _lives(int(children[0])):
            await asyncio.sleep(0.01)


def _lives(pid: int) -> bool:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGCONT)
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2][:3]
    return False


async def test_the_server_itself_imports_no_sdk_for_it(wire):
    wire.play(told({"data": [], "has_more": False}))
    script = (
        "import asyncio, sys\n"
        "from odin_lsp.config import Config\n"
        "from odin_lsp.models.key_check import check\n"
        f"assert asyncio.run(check('anthropic', {KEY!r}, Config())).verdict == 'accepted'\n"
        "print([it for it in ('anthropic', 'google.genai', 'botocore') if it in sys.modules])\n"
    )
    run = await asyncio.create_subprocess_exec(sys.executable, "-c", script, stdout=asyncio.subprocess.PIPE)
    said, _ = await run.communicate()
    assert said.strip() == b"[]"


@pytest.mark.parametrize("provider", ["anthropic", "google"])
async def test_prov_21_what_has_no_end_is_read_in_part(provider, wire):
    wire.play(Answer([b"x" * 2**20], 401, {"content-type": "text/plain"}, held=True))
    with pytest.raises(KeyRejected, match=r"status 401|xxx"):
        await list_models(provider, KEY, Config())
    wire.play(Answer([b" " * 2**20] * 9, headers={"content-type": "application/json"}, held=True))
    with pytest.raises(ModelUnavailable, match="it has more than 8 MiB"):
        await list_models(provider, KEY, Config())


async def test_a_key_of_vertex_is_checked_without_project_and_sign_in(wire, monkeypatch):
    monkeypatch.setenv("GOOGLE_VERTEX_BASE_URL", wire.url)
    monkeypatch.setenv("GOOGLE_VERTEX_API_KEY", "vertex-key-0123")
    wire.play(told({"totalTokens": 3}))
    assert (await asking.check_platform("vertex", "gemini-3.8-flash", Config())).problem == ""
    (sent,) = wire.sent
    assert sent.target == "/v1beta1/publishers/google/models/gemini-3.8-flash:countTokens"
    assert sent.headers["x-goog-api-key"] == "vertex-key-0123"


async def test_what_an_account_has_can_be_picked_and_completed_as_soon_as_that_is_known(wire, tmp_path, monkeypatch):
    for name in ("GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    wire.play(told({"data": [CLAUDE], "has_more": False}))
    async with Workspace(tmp_path) as workspace:
        known = workspace.models
        assert wire.sent == []
        await workspace._core.models.accounts.asked()

        assert workspace.models == await workspace.model_names() == (*known, "anthropic/claude-new-1")


def test_who_is_attached_names_the_same_ones():
    listings = [{"models": [{"ref": "a/one"}, {"ref": "a/new"}]}, {"models": []}]

    assert model_names({"available": ["a/one", "offline/odin"]}) == ["a/one", "offline/odin"]
    assert model_names({"available": ["a/one"], "accounts": listings}) == ["a/one", "a/new"]
