"""PROG-01 to PROG-07: a name is not a program. What runs is the file that was judged, and no file of a folder that
nobody trusts runs because a rule has its name in mind."""

import os

import pytest

from odin_lsp.commands.environment import program_search
from odin_lsp.commands.holding import Holding, Order
from odin_lsp.config import Config
from odin_lsp.errors import ToolError
from odin_lsp.ports import Answer
from tests.e2e.steps import says

ONCE = Answer(("allow_once",))
NAMES = ("python", "mkdir", "git", "ruff")


def run(call, *commands):
    return [*({"calls": [call("ExecuteCommand", command=command)]} for command in commands), {"text": "done"}]


def add_program(path, text="touch PWNED"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def add_environment(folder, *names, text="touch PWNED"):
    """A virtual environment, as anybody can commit it."""
    for name in ("python", *names):
        add_program(folder / ".venv" / "bin" / name, text)
    (folder / ".venv" / "pyvenv.cfg").touch()


@pytest.fixture
def system(tmp_path, monkeypatch):
    """A folder of programs on the `PATH` that are nobody's of the workspace."""
    folder = tmp_path / "system"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/usr/local/bin:/usr/bin:/bin")
    return folder


@pytest.mark.parametrize("command", ["mkdir made", "git commit -m x", "ruff check", "mkdir made && ruff check"])
async def test_prog_01_a_rule_runs_no_program_of_an_untrusted_folder(odin, call, person, system, command):
    odin.settings = {"allowedCommands": ["mkdir", "git commit", "ruff"]}
    add_environment(odin.root, *NAMES)
    odin.script(*run(call, command))
    await odin.take(mode="edit_mode")
    assert not list(odin.root.rglob("PWNED"))
    assert [question.command for question in person.questions] == [command]


async def test_prog_01_a_rule_still_runs_the_programs_of_the_system(odin, call, person, system):
    odin.settings = {"allowedCommands": ["mkdir", "mytool"]}
    add_environment(odin.root, "ruff")
    add_program(system / "mytool", 'touch "$1"')
    odin.script(*run(call, "mkdir made && mytool made/it"))
    await odin.take(mode="edit_mode")
    assert (odin.root / "made" / "it").exists()
    assert person.questions == []


async def test_prog_01_over_the_wire_only_trust_makes_the_folders_own_run(start, wire, step, anthropic, root, tmp_path):
    add_environment(root, "mkdir", text="touch OWN")
    client = await start(
        options={"settings": {"allowedCommands": ["mkdir"]}}, XDG_STATE_HOME=str(tmp_path / "state"), **anthropic
    )
    for _ in range(2):
        step(("ExecuteCommand", {"command": "mkdir made"}))
        wire.play(says())
    await client.command("edit", text="go")
    assert not (root / "OWN").exists()
    assert [it["command"] for it in client.questions] == ["mkdir made"]
    assert (
        "`mkdir` is a program of this folder (.venv/bin/mkdir), which is not trusted" in client.questions[0]["detail"]
    )
    await client.trusts()
    await client.command("edit", text="go")
    assert (root / "OWN").exists()
    assert len(client.questions) == 1


@pytest.mark.parametrize("scope", ["allow_session", "allow_workspace", "allow_always"])
async def test_prog_02_an_approval_runs_no_program_of_an_untrusted_folder(odin, call, person, system, scope):
    """What was allowed before the folder had one of its own is nothing that the folder can make its own."""
    odin.script(*run(call, "mkdir -p made"), *run(call, "mkdir -p made"), *run(call, "mkdir -p made"))
    person.answers = [Answer((scope,))]
    await odin.take(mode="edit_mode")
    await odin.take(mode="edit_mode")
    assert (len(person.questions), (odin.root / "made").is_dir()) == (1, True)
    add_environment(odin.root, "mkdir")
    await odin.take(mode="edit_mode")
    assert not list(odin.root.rglob("PWNED"))
    assert len(person.questions) == 2


async def test_prog_03_the_question_says_whose_program_it_is_and_how_to_trust(odin, call, person, system):
    add_environment(odin.root, "mypytest", "only-here")
    add_program(system / "mypytest", "touch SYSTEMS")
    odin.script(*run(call, "mypytest -q", "timeout 5 mypytest", "only-here | head -1"))
    await odin.take(mode="edit_mode")
    first, wrapped, alone = (question.detail for question in person.questions)
    both = (
        "`mypytest` is a program of this folder (.venv/bin/mypytest), which is not trusted:"
        f" {system}/mypytest would run instead; to have the folder's own run, trust it by the command “Trust” of your"
        " editor or `odin-lsp permissions trust`"
    )
    assert both in first
    assert both in wrapped
    assert "`only-here` is a program of this folder (.venv/bin/only-here), which is not trusted:" in alone
    assert "outside of it there is none; to have the folder's own run, trust it" in alone
    assert not list(odin.root.glob("SYSTEMS"))


async def test_prog_03_no_rule_makes_the_systems_program_run_in_place_of_the_folders(odin, call, person, system):
    odin.settings = {"allowedCommands": ["mypytest"]}
    add_environment(odin.root, "mypytest")
    add_program(system / "mypytest", "touch SYSTEMS")
    odin.script(*run(call, "mypytest", "mypytest"))
    person.answers = [None, ONCE]
    await odin.take(mode="edit_mode")
    refused, allowed = person.questions
    assert f"{system}/mypytest would run instead" in refused.detail
    assert [option.id for option in allowed.options] == ["allow_once", "deny"]
    assert ((odin.root / "SYSTEMS").exists(), (odin.root / "PWNED").exists()) == (True, False)


@pytest.mark.parametrize("change", ["appears first", "leads elsewhere", "is gone", "is the folder's"])
def test_prog_04_what_has_changed_since_it_was_judged_does_not_run(tmp_path, system, monkeypatch, change):
    root = tmp_path / "ws"
    root.mkdir()
    later = tmp_path / "later"
    later.mkdir()
    monkeypatch.setenv("PATH", f"{system}:{later}:/usr/bin:/bin")
    program = add_program(later / "mytool")
    order = Order(
        command="mytool",
        cwd=root,
        roots=[root],
        mode="edit_mode",
        programs=(program_search(os.environ, root, [root], ()).find("mytool"),),
    )
    holding = Holding(Config)
    assert holding.of(order, tmp_path)[0].cwd == root
    match change:
        case "appears first":
            add_program(system / "mytool")
        case "leads elsewhere":
            program.unlink()
            program.symlink_to(add_program(root / "mytool"))
        case "is gone":
            program.unlink()
        case _:
            add_environment(root, "mytool")
    with pytest.raises(ToolError, match="`mytool` is no longer the program that was allowed"):
        holding.of(order, tmp_path)


async def test_prog_04_an_answer_counts_for_the_program_that_was_shown(odin, call, person, system):
    add_program(system / "mytool", "touch FINE")
    odin.script(*run(call, "mytool"))

    async def ask(question):
        person.questions.append(question)
        add_environment(odin.root, "mytool")
        return ONCE

    person.ask = ask
    outcome = await odin.take(mode="edit_mode")
    assert [it.status for it in outcome.tools] == ["error"]
    assert not list(odin.root.glob("FINE"))


@pytest.mark.parametrize("way", ["on the path", "by a link", "by a folder that is a link"])
async def test_prog_05_the_users_own_path_may_lead_into_the_workspace(odin, call, person, system, monkeypatch, way):
    odin.settings = {"allowedCommands": ["mytool", "mkdir"]}
    own = add_program(odin.root / "tools" / "mytool")
    add_program(odin.root / "tools" / "mkdir")
    if way == "by a link":
        (system / "mytool").symlink_to(own)
    elif way == "by a folder that is a link":
        (system / "linked").symlink_to(own.parent)
        monkeypatch.setenv("PATH", f"{system / 'linked'}:{os.environ['PATH']}")
    else:
        monkeypatch.setenv("PATH", f"{own.parent}:{os.environ['PATH']}")
    odin.script(*run(call, "mytool"))
    await odin.take(mode="edit_mode")
    assert not list(odin.root.rglob("PWNED"))
    [question] = person.questions
    assert "`mytool`" in question.detail
    assert "a program of this folder" in question.detail


@pytest.mark.parametrize("is_trusted", [True, False])
async def test_prog_06_a_rule_for_a_file_of_the_folder_counts_if_that_is_trusted(
    odin, call, person, system, is_trusted
):
    odin.settings = {"allowedCommands": ["./gradlew test"]}
    add_program(odin.root / "gradlew", "touch OWN")
    odin.start(trusted=is_trusted or None)
    odin.script(*run(call, "./gradlew test"))
    await odin.take(mode="edit_mode")
    assert (odin.root / "OWN").exists() is is_trusted
    assert len(person.questions) == (not is_trusted)


async def test_prog_07_in_a_trusted_folder_its_environment_comes_first(odin, call, person, system):
    odin.settings = {"allowedCommands": ["mytool"]}
    add_environment(odin.root, "mytool", text="touch OWN")
    add_program(system / "mytool", "touch SYSTEMS")
    odin.start(trusted=True)
    odin.script(*run(call, "mytool"))
    await odin.take(mode="edit_mode")
    assert ((odin.root / "OWN").exists(), (odin.root / "SYSTEMS").exists()) == (True, False)
    assert person.questions == []


async def test_prog_07_in_a_trusted_folder_nothing_is_asked_about_that_was_not_before(
    odin, call, person, system, monkeypatch
):
    """What the user's own `PATH` has of the workspace is left out there as well, and always was."""
    odin.settings = {"allowedCommands": ["mytool"]}
    add_program(odin.root / "tools" / "mytool", "touch OWN")
    add_program(system / "mytool", "touch SYSTEMS")
    monkeypatch.setenv("PATH", f"{odin.root / 'tools'}:{os.environ['PATH']}")
    odin.start(trusted=True)
    odin.script(*run(call, "mytool"))
    await odin.take(mode="edit_mode")
    assert ((odin.root / "OWN").exists(), (odin.root / "SYSTEMS").exists()) == (False, True)
    assert person.questions == []


async def test_prog_07_trust_in_one_folder_is_none_in_the_next(odin, tmp_path):
    other = tmp_path / "other"
    for folder in (odin.root, other):
        add_environment(folder)
    odin.start(trusted=True)
    odin.project.change_folders((), (other,))
    holding, roots = odin.live.scope.commands.holding, odin.project.now.roots
    assert holding.program_search(odin.root, roots).environment == odin.root / ".venv"
    assert holding.program_search(other, roots).environment is None
    assert holding.program_search(other, roots).unused_environment == other / ".venv"
