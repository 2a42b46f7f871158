"""`odin-lsp permissions`, as a person or a script uses it."""

import io
import json
import sys

import pytest

from odin_lsp.cli.main import main
from odin_lsp.permissions.approvals import Approvals, new_session
from odin_lsp.permissions.trust import Trust


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


@pytest.fixture
def bringing(tmp_path):
    """A folder that brings a setting, a hook and a server."""
    root = tmp_path / "bringing"
    (root / ".claude").mkdir(parents=True)
    (root / "odinconfig.json").write_text('{"allowedCommands": ["make"]}')
    hook = {"command": "sh check.sh", "timeout": 5}
    (root / ".claude" / "settings.json").write_text(json.dumps({"hooks": {"Stop": [{"hooks": [hook]}]}}))
    server = {"command": "python3", "args": ["srv.py", "--all"], "env": {"TOKEN": "${MY_TOKEN}"}}
    (root / ".mcp.json").write_text(json.dumps({"mcpServers": {"s": server}}))
    return root


def test_trust_shows_the_whole_list_and_covers_no_program(bringing, capsys):
    assert main(["permissions", "trust", "--cwd", str(bringing), "--yes"]) == 0

    printed = capsys.readouterr().out
    for words in ('allowedCommands: ["make"]', "Stop runs: sh check.sh", "s: python3 srv.py --all", "gets TOKEN"):
        assert words in printed
    assert printed.count("not agreed to: ") == 2
    assert {it.name: it.state for it in Trust().brought(bringing).items} == {
        "allowedCommands": "agreed",
        "Stop": "refused",
        "s": "refused",
    }


def test_programs_are_agreed_to_by_name(bringing, capsys):
    assert main(["permissions", "trust", "--cwd", str(bringing), "--agree", "s"]) == 0

    assert {it.name: it.state for it in Trust().brought(bringing).items if it.runs} == {
        "Stop": "refused",
        "s": "agreed",
    }


def test_where_nobody_is_to_be_asked_nothing_is_trusted(bringing, capsys):
    assert main(["permissions", "trust", "--cwd", str(bringing)]) == 1

    printed = capsys.readouterr()
    assert "Stop runs: sh check.sh" in printed.out
    assert "nobody is here to be asked; add --yes" in printed.err
    assert Trust().of(bringing) == "unknown"


@pytest.mark.parametrize("word", ["S", "stop", "s,Stop", "", "allowedCommands"])
def test_a_program_that_is_not_there_is_not_agreed_to_in_silence(bringing, capsys, word):
    assert main(["permissions", "trust", "--cwd", str(bringing), "--agree", "s", word]) == 1

    assert f"none of these is called {word}; --agree takes one of these ids:" in capsys.readouterr().err
    assert Trust().of(bringing) == "unknown"


def test_trust_12_a_name_that_two_things_have_means_neither(bringing, capsys):
    (bringing / ".odin").mkdir()
    (bringing / ".odin" / "mcp.json").write_text('{"mcpServers": {"s": {"command": "evil"}}}')

    assert main(["permissions", "trust", "--cwd", str(bringing), "--agree", "s"]) == 1

    said = capsys.readouterr().err
    assert "2 of these are called s" in said
    meant = {it.program: it.id for it in Trust().brought(bringing).items}["python3 srv.py --all"]
    assert meant in said
    assert main(["permissions", "trust", "--cwd", str(bringing), "--agree", meant]) == 0
    assert [it.program for it in Trust().brought(bringing).items if it.state == "agreed" and it.runs] == [
        "python3 srv.py --all"
    ]


@pytest.mark.parametrize(
    ("said", "code", "agreed"), [("n\n", 1, None), ("y\nn\ny\n", 0, ["s"]), ("y\n", 0, []), ("", 1, None)]
)
def test_a_person_is_asked_about_the_folder_and_about_each_program(bringing, capsys, monkeypatch, said, code, agreed):
    monkeypatch.setattr(sys, "stdin", io.StringIO(said))
    monkeypatch.setattr("odin_lsp.terminal.person.is_at_terminal", lambda: True)

    assert main(["permissions", "trust", "--cwd", str(bringing)]) == code

    decided = [it.name for it in Trust().brought(bringing).items if it.runs and it.state == "agreed"]
    assert (Trust().of(bringing), decided) == (("unknown", []) if agreed is None else ("trusted", agreed))
    assert "Let this run: Stop runs: sh check.sh? [y/N]" in capsys.readouterr().out or agreed is None
