"""`odin-lsp models`: what accounts, platforms and servers have."""

import asyncio
import json

import pytest

from odin_lsp.cli.main import main
from tests.support.wire import KEY, Answer

CLAUDE = {
    "id": "claude-new-1",
    "type": "model",
    "display_name": "Claude New",
    "created_at": "2026-11-01T00:00:00Z",
    "lifecycle": "active",
    "max_input_tokens": 200_000,
    "max_tokens": 64_000,
}


@pytest.fixture
def models(monkeypatch, tmp_path, capsys):
    """Run it, with the key of one provider."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("OLLAMA_HOST", "http://127.0.0.1:1")

    async def models(*arguments, key=""):
        for name in ("ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENAI_API_KEY"):
            monkeypatch.delenv(name, raising=False)
        if key:
            monkeypatch.setenv(key, KEY)
        status = await asyncio.to_thread(main, ["models", *arguments])
        printed = capsys.readouterr()
        models.complaints = printed.err.splitlines()
        return status, printed.out

    return models


def told(body, status=200):
    return Answer([json.dumps(body).encode()], status, {"content-type": "application/json"}, framing="length")


async def test_an_account_is_listed_as_its_provider_says(models, wire):
    listed = told({"data": [CLAUDE], "has_more": False})
    wire.play(listed, listed)
    status, said = await models(key="ANTHROPIC_API_KEY")
    assert (status, "  anthropic/claude-new-1      200,000 tokens  Claude New\n" in said) == (0, True)

    _, said = await models("--json", key="ANTHROPIC_API_KEY")
    first = json.loads(said.splitlines()[0])
    assert (first["ref"], first["context"], first["maxOutput"]) == ("anthropic/claude-new-1", 200_000, 64_000)


async def test_a_compatible_server_is_asked_as_before(models, wire):
    wire.play(told({"data": [{"id": "qwen3"}, {"no": "id"}, 4]}))
    assert "  openai/qwen3\n" in (await models(key="OPENAI_API_KEY"))[1]


async def test_a_platform_lists_none_so_the_table_stands_for_it(models, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_FOUNDRY_RESOURCE", "mine")
    status, said = await models()
    assert status == 0
    assert "Microsoft Foundry lists none; as far as Odin knows:\n" in said
    assert "  foundry/claude-sonnet-5-5" in said


async def test_an_account_that_cannot_be_asked_is_told_and_fails(models, wire):
    wire.play(told({"error": {"type": "authentication_error", "message": f"bad {KEY}"}}, 401))
    status, said = await models(key="ANTHROPIC_API_KEY")
    assert (status, "Anthropic: bad" in said) == (1, True)
    assert KEY not in said


async def test_a_program_that_prints_a_key_is_asked_again_if_the_key_is_refused(models, wire, tmp_path):
    (tmp_path / "odin").mkdir()
    runs = tmp_path / "runs"
    script = f"echo x >> {runs}; echo helpers-key-$(wc -l < {runs} | tr -d ' ')"
    (tmp_path / "odin" / "odinconfig.json").write_text(
        json.dumps({"keyHelpers": {"anthropic": ["sh", "-c", script], "openai": ["sh", "-c", "exit 4"]}})
    )
    no = told({"error": {"type": "authentication_error", "message": "bad helpers-key-1"}}, 401)
    wire.play(no, told({"data": [CLAUDE], "has_more": False}))

    status, said = await models()

    assert [it.headers["authorization"] for it in wire.sent] == ["Bearer helpers-key-1", "Bearer helpers-key-2"]
    assert "  anthropic/claude-new-1 " in said
    assert (status, "OpenAI: the program for the key of openai, sh " in said) == (1, True)


async def test_what_is_wrong_in_the_settings_is_said_beside_the_list(models, wire, tmp_path):
    (tmp_path / "odin").mkdir()
    settings = tmp_path / "odin" / "odinconfig.json"
    settings.write_text('{\n"models": "claude",\n"keyHelpers": {"openai": 4}\n}')
    wire.play(told({"data": [CLAUDE], "has_more": False}))

    _, said = await models("--json", key="ANTHROPIC_API_KEY")

    assert [json.loads(line)["ref"] for line in said.splitlines()] == ["anthropic/claude-new-1"]
    assert [line.partition(": ")[0] for line in models.complaints] == [f"{settings}:3", f"{settings}:2"]
