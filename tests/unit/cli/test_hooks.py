"""`odin-lsp hooks test`."""

import json

import pytest

from odin_lsp.cli.main import main
from tests.support.trusting import trust_folder


@pytest.fixture
def workspace(tmp_path):
    root = tmp_path / "workspace"
    (root / ".claude").mkdir(parents=True)
    guard = {"type": "command", "command": "cat > seen; echo not there >&2; exit 2"}
    told = {"type": "command", "command": "echo the branch is main"}
    events = {"PreToolUse": [{"matcher": "Edit", "hooks": [guard]}], "UserPromptSubmit": [{"hooks": [told]}]}
    (root / ".claude/settings.json").write_text(json.dumps({"hooks": events}))
    return root


@pytest.fixture
def trusted(workspace):
    trust_folder(workspace)
    return workspace


def test_it_shows_what_would_run_and_what_it_answers(trusted, capsys):
    main(["hooks", "test", "PreToolUse", "--tool", "Edit", "--input", '{"file_path": "a"}', "--cwd", str(trusted)])

    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert lines[1] == str(trusted / ".claude/settings.json")
    assert lines[2].startswith("exit code 2 after ")
    assert "stderr: not there" in lines
    assert any(line.startswith("refused: ") for line in lines)
    seen = json.loads((trusted / "seen").read_text())
    assert (seen["tool_name"], seen["tool_input"]) == ("Edit", {"file_path": "a"})


def test_a_tool_that_no_hook_is_for_runs_none(trusted, capsys):
    main(["hooks", "test", "PreToolUse", "--tool", "Bash", "--cwd", str(trusted)])

    assert capsys.readouterr().out == "no hook is run at PreToolUse\n"
    assert not (trusted / "seen").exists()


def test_what_the_model_would_be_told_is_shown(trusted, capsys):
    main(["hooks", "test", "UserPromptSubmit", "--cwd", str(trusted)])

    assert "told to the model: the branch is main" in capsys.readouterr().out


def test_nothing_of_a_folder_that_is_not_trusted_runs(workspace, capsys):
    main(["hooks", "test", "PreToolUse", "--tool", "Edit", "--cwd", str(workspace)])

    assert "not used: you have not agreed to it" in capsys.readouterr().out
    assert not (workspace / "seen").exists()


def test_input_that_is_no_object_is_bad_usage(workspace, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["hooks", "test", "Stop", "--input", "[", "--cwd", str(workspace)])

    assert ended.value.code == 2
    assert "--input is no JSON" in capsys.readouterr().err
