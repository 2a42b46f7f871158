"""`odin-lsp permissions`, as a person or a script uses it."""

import io
import json
import sys

import pytest

from odin_lsp.cli.main import main
from odin_lsp.permissions.approvals import Approvals, new_session


@pytest.fixture(autouse=True)
def nobody_has_allowed_anything(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def check(tmp_path, capsys):
    def check(command, *options):
        code = main(["permissions", "check", "--cwd", str(tmp_path), *options, "--", command])
        return code, capsys.readouterr()

    return check


@pytest.mark.parametrize(
    ("command", "mode", "code", "verdict"),
    [
        ("ls -la", "ask", 0, "allow"),
        ("ls -la", "edit", 0, "allow"),
        ("touch x", "edit", 10, "ask"),
        ("touch x", "ask", 20, "deny"),
        ("touch x", "plan", 20, "deny"),
        ("rm -rf /", "edit", 20, "deny"),
        ("--help", "edit", 10, "ask"),
    ],
)
def test_the_exit_code_and_the_object_say_the_same(check, command, mode, code, verdict):
    left, printed = check(command, "--mode", mode, "--json")

    said = json.loads(printed.out)
    assert left == code
    assert said["verdict"] == verdict
    assert said["reason"]
    assert said["commands"][0]["argv"] == command.split()


def test_a_person_reads_one_line(check):
    code, printed = check("find . -delete")

    assert code == 10
    assert printed.out == "ask: `find`: `-delete` may be more than reading\n"


def test_settings_are_taken_for_the_users_own(check, tmp_path):
    file = tmp_path / "mine.json"
    file.write_text(json.dumps({"allowedCommands": ["make"], "forbiddenCommands": ["touch", 5]}))
    assert check("touch x", "--config", str(file))[0] == 20
    code, printed = check("make", "--config", str(file))
    assert code == 10
    assert "`forbiddenCommands.1`" in printed.err

    file.write_text(json.dumps({"allowedCommands": ["make"]}))
    assert check("make", "--config", str(file))[0] == 0


def test_a_workspace_cannot_allow_but_forbid(check, tmp_path):
    (tmp_path / "odinconfig.json").write_text(json.dumps({"allowedCommands": ["make"], "forbiddenCommands": ["ls"]}))

    assert check("make")[0] == 10
    assert check("ls")[0] == 20


def test_settings_that_are_not_there_are_bad_usage(check, tmp_path):
    with pytest.raises(SystemExit) as left:
        check("ls", "--config", str(tmp_path / "nosuch.json"))

    assert left.value.code == 2


def test_a_command_may_come_from_stdin(check, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"ls\0; touch x\n")))

    assert check("-", "--mode", "edit")[0] == 20


def test_what_was_allowed_is_listed_and_removed(tmp_path, capsys):
    kept = Approvals().add("ExecuteCommand", "tsc --noEmit", None, "edit_mode")
    gone = Approvals().add("ExecuteCommand", "ruff check", tmp_path, "edit_mode")

    assert main(["permissions", "check", "--cwd", str(tmp_path), "--", "ruff check ."]) == 0
    assert main(["permissions", "check", "--cwd", str(tmp_path), "--mode", "plan", "--", "ruff check ."]) == 20
    capsys.readouterr()
    assert main(["permissions", "list"]) == 0
    shown = capsys.readouterr().out
    assert f"{kept.id}  ExecuteCommand  tsc --noEmit  (everywhere" in shown
    assert f"{gone.id}  ExecuteCommand  ruff check  ({tmp_path}" in shown

    assert main(["permissions", "remove", gone.id]) == 0
    assert main(["permissions", "remove", gone.id]) == 1
    capsys.readouterr()
    assert main(["permissions", "list", "--json"]) == 0
    assert [it["id"] for it in json.loads(capsys.readouterr().out)] == [kept.id]
    Approvals().remove(kept.id)


def test_c_059_what_was_allowed_in_a_session_that_is_open_is_listed_and_removed(capsys):
    here = Approvals().add("ExecuteCommand", "touch", None, "edit_mode", new_session())
    Approvals().add("ExecuteCommand", "mv", None, "edit_mode", "0x-of-one-that-was-killed")

    assert main(["permissions", "list"]) == 0
    assert capsys.readouterr().out.startswith(f"{here.id}  ExecuteCommand  touch  (in one session, since ")
    assert main(["permissions", "remove", here.id]) == 0
    assert Approvals().all() == ()


def test_a_decision_that_cannot_be_kept_is_an_error(tmp_path, monkeypatch, capsys):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file" / "state"))

    assert main(["permissions", "trust", "--cwd", str(tmp_path)]) == 1
    assert "nothing has changed" in capsys.readouterr().err
