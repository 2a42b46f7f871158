"""`odin-lsp init`: what it finds, what it writes and where, and that it writes nothing unasked."""

import io
import json

import pytest

from odin_lsp.cli.main import main
from odin_lsp.config import user_file

KEY = "sk-ant-never-written"


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def init(serve, tmp_path, monkeypatch, capsys):
    """Run it, with somebody at the terminal who types that, or with nobody."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))

    def init(*arguments, typed=None, status=0):
        monkeypatch.setattr("sys.stdin", io.StringIO() if typed is None else Terminal(typed))
        assert main(["init", *arguments]) == status
        return capsys.readouterr()

    return init


def written():
    return json.loads(user_file().read_text()) if user_file().exists() else None


def test_keys_and_servers_are_offered_and_the_one_that_is_selected_is_written(init, serve, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    serve("ollama", "qwen3", "nomic-embed-text")
    serve("llamacpp", "gemma")

    said = init(typed="7\nno\n2\n").out

    assert "  1  anthropic/claude-sonnet-5-5  API key in ANTHROPIC_API_KEY\n" in said
    assert "  2  ollama/qwen3                 Ollama at http://127.0.0.1:" in said
    assert "  3  llamacpp/gemma               llama.cpp at http://127.0.0.1:" in said
    assert f'Wrote "model": "ollama/qwen3" to {user_file()}.' in said
    assert written() == {"model": "ollama/qwen3"}
    assert KEY not in said + user_file().read_text()


@pytest.mark.parametrize("typed", ["0\n", ""])
def test_who_selects_none_has_nothing_written(init, serve, typed):
    serve("ollama", "qwen3")

    init(typed=typed)

    assert written() is None


def test_where_nobody_can_answer_it_says_what_it_would_do(init, serve):
    serve("vllm", "qwen3")

    said = init().out

    assert f'`odin-lsp init --yes` writes "model": "vllm/qwen3" to {user_file()}.' in said
    assert written() is None
    init("--yes")
    assert written() == {"model": "vllm/qwen3"}


def test_a_variable_that_overrides_it_is_named(init, monkeypatch):
    monkeypatch.setenv("ODIN_MODEL", "offline/odin")

    assert "ODIN_MODEL is set to offline/odin, and overrides this." in init("--model", "ollama/qwen3").out


def test_other_settings_stay_and_a_link_stays_a_link(init, tmp_path):
    kept = tmp_path / "dotfiles.json"
    kept.write_text('{\n  "role": "planner"\n}\n')
    user_file().parent.mkdir(parents=True)
    user_file().symlink_to(kept)

    init("--model", "lmstudio/gemma@x")

    assert kept.read_text() == '{\n  "model": "lmstudio/gemma@x",\n  "role": "planner"\n}\n'
    assert user_file().is_symlink()


def test_settings_that_cannot_be_read_are_not_replaced(init):
    user_file().parent.mkdir(parents=True)
    user_file().write_text("{oops")

    assert "cannot be changed by a program (line 1: not valid JSON" in init("--model", "ollama/qwen3", status=1).err
    assert user_file().read_text() == "{oops"
    assert "names no model" in init("--model", "qwen3", status=2).err


def test_without_a_model_it_says_how_to_get_one_and_names_the_editors_that_are_here(init, tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "hx").write_text("#!/bin/sh\n")
    (tmp_path / "bin" / "hx").chmod(0o755)

    said = init("--yes").out

    assert "one of these variables: ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN, GEMINI_API_KEY" in said
    assert "  Terminal: odin-lsp chat" in said
    assert "  Helix: " in said
    assert "Neovim" not in said
    assert written() is None


def test_platforms_are_offered_by_what_says_that_somebody_uses_them(init, monkeypatch):
    monkeypatch.setenv("AWS_PROFILE", "work")
    monkeypatch.setenv("ANTHROPIC_VERTEX_PROJECT_ID", "mine")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", KEY)

    said = init(typed="2\n").out

    assert "  1  anthropic/claude-sonnet-5-5          API key in ANTHROPIC_AUTH_TOKEN\n" in said
    assert "  2  bedrock/anthropic.claude-sonnet-5-5  Amazon Bedrock, by AWS_PROFILE\n" in said
    assert "  3  vertex/claude-sonnet-5-5             Google Vertex AI, by ANTHROPIC_VERTEX_PROJECT_ID\n" in said
    assert "foundry/" not in said
    assert written() == {"model": "bedrock/anthropic.claude-sonnet-5-5"}


def test_a_program_that_prints_a_key_is_offered_and_not_run(init):
    user_file().parent.mkdir(parents=True)
    user_file().write_text(json.dumps({"keyHelpers": {"anthropic": ["/nowhere/print-key", "--for", "odin"]}}))

    said = init("--yes").out

    assert "  1  anthropic/claude-sonnet-5-5  API key printed by /nowhere/print-key\n" in said
    assert written()["model"] == "anthropic/claude-sonnet-5-5"


def test_a_key_of_vertex_offers_gemini_there(init, monkeypatch):
    monkeypatch.setenv("GOOGLE_VERTEX_API_KEY", KEY)

    said = init(typed="1\n").out

    assert "  1  vertex/gemini-" in said
    assert "  Google Vertex AI, by GOOGLE_VERTEX_API_KEY\n" in said
    assert written()["model"].startswith("vertex/gemini-")
