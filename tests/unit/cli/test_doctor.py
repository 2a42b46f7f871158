"""What the doctor says of models, and of language servers: it starts those that could be used."""

import json
import sys

import pytest

from odin_lsp.cli.doctor import diagnose
from odin_lsp.cli.main import main
from tests.support.language_servers import SCRIPT, own_processes


@pytest.fixture
def diagnosed(tmp_path, monkeypatch, capsys):
    """What it says of language servers with these settings, where nothing else is installed."""
    root = tmp_path / "ws"
    root.mkdir()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))

    def diagnosed(settings):
        file = tmp_path / "config" / "odin" / "odinconfig.json"
        file.parent.mkdir(parents=True)
        file.write_text(json.dumps({"languageServers": settings}))
        before = own_processes()
        diagnose(root)
        assert own_processes() <= before
        _, _, said = capsys.readouterr().out.partition("in Edit, commands")
        return said.partition("\n")[2].partition("✓ sessions in")[0].replace(str(root), "WS")

    return diagnosed


@pytest.fixture
def scripted(tmp_path):
    """Settings of a server that does what a table says."""

    def scripted(table):
        (tmp_path / "table.json").write_text(json.dumps(table))
        return {"command": [sys.executable, str(SCRIPT), str(tmp_path / "table.json")], "languages": {".toy": "toy"}}

    return scripted


def test_one_that_works_is_told_with_its_time_and_memory(diagnosed, scripted):
    said = diagnosed({"servers": {"toy": scripted({})}})

    assert f"✓ language server toy at {sys.executable} (" in said
    assert " MiB)" in said


def test_one_that_does_not_is_told_with_its_last_words(diagnosed, scripted):
    said = diagnosed({"servers": {"toy": scripted({"initialize": [{"complain": 1}, {"exit": 4}]})}})

    assert f"✗ language server toy at {sys.executable}: toy has stopped with code 4" in said
    assert "it said:\n      complaint" in said


def test_one_that_the_settings_name_and_that_is_missing_is_wrong(diagnosed):
    said = diagnosed({"servers": {"toy": {"command": ["toy-server"], "languages": {".toy": "toy"}}}})

    assert "✗ language server toy: it is not installed" in said


def test_none_is_a_note(diagnosed):
    assert "• no language server is used: questions about code are answered by name only" in diagnosed({})


def test_a_program_of_the_workspace_waits_for_trust(diagnosed, tmp_path):
    own = tmp_path / "ws" / "node_modules" / ".bin" / "pyright-langserver"
    own.parent.mkdir(parents=True)
    own.write_text(f"#!/bin/sh\ntouch {tmp_path / 'ran'}\n")
    own.chmod(0o755)

    said = diagnosed({})

    assert "• language server pyright: WS/node_modules/.bin/pyright-langserver is in the workspace" in said
    assert not (tmp_path / "ran").exists()


def test_none_is_started_where_they_are_disabled(diagnosed, scripted):
    said = diagnosed({"enabled": False, "servers": {"toy": scripted({})}})

    assert said.count("language server") == 1
    assert "• language servers are disabled" in said


def test_a_key_and_a_model_that_only_the_editor_has_are_known(tmp_path, monkeypatch, capsys):
    for name in ("ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENAI_API_KEY", "ODIN_MODEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))

    diagnose(tmp_path)
    assert "no language model is set" in capsys.readouterr().out
    model = "anthropic/claude-sonnet-4-5"
    diagnose(tmp_path, json.dumps({"settings": {"model": model}, "secrets": {"anthropic": "k-1"}, "trusted": True}))
    said = capsys.readouterr().out

    assert f"✓ model {model} " in said
    assert "key from the editor" in said
    assert "no language model is set" not in said
    assert "k-1" not in said


@pytest.fixture
def told(tmp_path, monkeypatch, capsys):
    """What it says of a workspace, with a model that the editor has set."""
    root = tmp_path / "ws"
    root.mkdir()
    for name in ("CONFIG", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))

    def told(**settings):
        diagnose(root, json.dumps({"settings": settings}))
        return capsys.readouterr().out

    return told


def test_a_model_server_that_does_not_answer_or_has_another_model_is_wrong(told, serve):
    url = serve("ollama", "qwen3:latest")

    assert f"✓ model ollama/qwen3 (Ollama at {url})" in told(model="ollama/qwen3")
    assert "✗ model ollama/gemma: Ollama does not have it\n    → use one of ollama/qwen3:latest" in told(
        model="ollama/gemma"
    )
    assert "✗ model vllm/qwen3: vLLM does not answer at http://127.0.0.1:9" in told(model="vllm/qwen3")


def test_every_model_server_that_answers_is_told_and_offered_where_no_model_is_set(told, serve):
    ollama, vllm = serve("ollama", "qwen3", "gemma"), serve("vllm", "qwen3")

    said = told()

    assert f"✓ Ollama at {ollama}: 2 models\n✓ vLLM at {vllm}: 1 model\n" in said
    assert ", or `model` to ollama/qwen3 (Ollama runs on this computer), or `model` to vllm/qwen3 (vLLM" in said


def test_without_bash_nothing_is_said_to_run(told, monkeypatch):
    monkeypatch.setattr("odin_lsp.commands.environment.SHELLS", ())

    said = told()

    assert "✗ bash is missing: no command can be run\n    → install bash\n" in said
    assert "commands run" not in said


def test_extensions_are_counted_and_those_that_are_not_used_are_told(told, tmp_path):
    for name in ("deploy", "test"):
        skill = tmp_path / "ws" / ".claude" / "skills" / name / "SKILL.md"
        skill.parent.mkdir(parents=True)
        skill.write_text(f"---\nname: {name}\ndescription: do it\n---\nx")
    (tmp_path / "ws" / ".mcp.json").write_text("{")

    before = told()
    main(["permissions", "trust", "--yes", "--cwd", str(tmp_path / "ws")])
    after = told()

    assert "• extensions of this folder that are not used, because you do not trust it: 2" in before
    assert "✓ extensions in use: 2 skills" in after
    assert "✗ file .mcp: line 1: not valid JSON" in after


@pytest.mark.parametrize(
    ("variables", "found"),
    [
        (
            {"AWS_ACCESS_KEY_ID": "AKID", "AWS_SECRET_ACCESS_KEY": "secret-0123456789"},
            "✓ model MODEL (credentials of Amazon Bedrock found)",
        ),
        (
            {},
            "✗ model MODEL: there are no credentials for Amazon Bedrock (none were found); ",
        ),
        ({"AWS_REGION": ""}, "✗ model MODEL: no AWS region is set; set AWS_REGION, or "),
    ],
    ids=["found", "none", "nowhere"],
)
def test_the_credentials_of_a_platform_are_checked(tmp_path, monkeypatch, capsys, variables, found):
    for name, value in {"AWS_REGION": "us-east-1", "ODIN_MODEL": "bedrock/anthropic.claude-sonnet-5-5"}.items():
        monkeypatch.setenv(name, value)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    diagnose(tmp_path)

    assert found.replace("MODEL", "bedrock/anthropic.claude-sonnet-5-5") in capsys.readouterr().out


def test_bedrock_without_its_extra_is_told_with_what_to_install(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("ODIN_MODEL", "bedrock/anthropic.claude-sonnet-5-5")
    monkeypatch.setattr("odin_lsp.models.platforms.bedrock.is_installed", lambda: False)

    diagnose(tmp_path)

    said = "✗ model bedrock/anthropic.claude-sonnet-5-5: boto3 is missing\n    → pip install 'odin-lsp[bedrock]'"
    assert said in capsys.readouterr().out


@pytest.mark.parametrize(
    ("printed", "found"),
    [
        ("echo a-key-0123", "✓ model anthropic/claude-sonnet-5-5 (key from sh, by `keyHelpers.anthropic`"),
        (
            "echo locked >&2; exit 3",
            "✗ model anthropic/claude-sonnet-5-5: the program for the key of anthropic, sh (`keyHelpers.anthropic`),"
            " failed with exit code 3 (locked); run it in a terminal",
        ),
    ],
)
def test_a_program_that_prints_a_key_is_run(tmp_path, monkeypatch, capsys, printed, found):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("ODIN_MODEL", "anthropic/claude-sonnet-5-5")
    (tmp_path / "odin").mkdir()
    told = {"keyHelpers": {"anthropic": ["sh", "-c", printed]}}
    (tmp_path / "odin" / "odinconfig.json").write_text(json.dumps(told))

    diagnose(tmp_path)

    said = capsys.readouterr().out
    assert found in said
    assert "a-key-0123" not in said
