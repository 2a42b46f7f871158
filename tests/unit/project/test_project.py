"""Folders, settings, trust and picks: one value, the same for everybody, whichever way it has come about."""

import json
import logging

import pytest

from odin_lsp import state_folder
from odin_lsp.errors import RequestError
from odin_lsp.permissions.trust import Trust
from odin_lsp.project.project import Project, Told
from tests.support.trusting import agree_to_all

MODEL = {"model": "offline/other"}


@pytest.fixture
def folder(tmp_path):
    """Makes folders, with settings of their own if there are any."""

    def folder(name, settings=None):
        path = tmp_path / name
        path.mkdir(exist_ok=True)
        if settings is not None:
            (path / "odinconfig.json").write_text(json.dumps(settings))
        return path

    return folder


def said_before(root):
    """That the folder is trusted, in an earlier Odin."""
    trust = Trust()
    trust.decide(root, trusted=True)
    trust.keep()


def test_a_trusted_folders_rights_do_not_pass_to_the_next(folder):
    mine, other = folder("mine", MODEL), folder("other", {"allowedCommands": ["rm"]})
    said_before(mine)
    project = Project(Told(roots=(mine,)))
    assert project.now.is_trusted

    project.change_folders((mine,), (other,))

    assert (project.now.roots, project.now.is_trusted, project.now.config.allowed_commands) == ((other,), False, ())
    assert [it.needs_trust for it in project.now.problems] == [True]


def test_settings_that_change_after_they_were_trusted_are_no_longer(folder):
    root = folder("mine", {"allowedCommands": ["make"]})
    project = Project(Told(roots=(root,)))
    agree_to_all(project)
    assert project.now.config.allowed_commands == ("make",)

    folder("mine", {"allowedCommands": ["rm"]})
    project.look()

    assert (project.now.standing, project.now.config.allowed_commands) == ("changed", ())


def test_the_users_word_takes_effect_at_once(folder):
    project = Project(Told(roots=(folder("mine", {"allowedCommands": ["make"]}),)))

    assert project.decide_trust(trusted=True)
    assert project.now.config.allowed_commands == ("make",)
    assert not project.decide_trust(trusted=False)
    assert project.now.config.allowed_commands == ()
    project.keep_trust()
    assert Trust().of(project.now.root) == "restricted"


def test_a_restricted_folder_is_not_trusted_whatever_was_said_before(folder):
    root = folder("mine", {"allowedCommands": ["make"]})
    said_before(root)

    now = Project(Told(roots=(root,), trusted=False)).now

    assert (now.is_restricted, now.is_trusted, now.config.allowed_commands) == (True, False, ())


def test_followers_hear_of_what_is_new_and_of_nothing_else(folder):
    project, heard = Project(Told(roots=(folder("mine"),))), []
    project.follow(heard.append)

    project.look()
    project.tell(settings={"limits": {"maxTurns": 3}})
    project.tell(settings={"limits": {"maxTurns": 3}})

    assert [it.config.limits.max_turns for it in heard] == [3]


def test_a_follower_that_fails_does_not_keep_others_from_hearing(folder, caplog):
    project, heard = Project(), []

    def fail(_):
        raise ZeroDivisionError

    project.follow(fail)
    project.follow(heard.append)
    with caplog.at_level(logging.ERROR):
        project.tell(roots=(folder("mine"),))

    assert len(heard) == 1
    assert "ZeroDivisionError" in caplog.text


def test_a_pick_counts_at_once_and_in_the_next_project_there(folder):
    root = folder("mine")
    project = Project(Told(roots=(root,)))

    project.pick({"model": "offline/picked"})

    assert project.now.models[0] == "offline/picked"
    assert Project(Told(roots=(root,))).now.models[0] == "offline/picked"
    assert Project(Told(roots=(folder("other"),))).now.models[0] == "offline/odin"


def test_a_pick_does_not_go_before_the_environment(folder, monkeypatch):
    monkeypatch.setenv("ODIN_MODEL", "offline/fixed")
    project = Project(Told(roots=(folder("mine"),)))

    with pytest.raises(RequestError, match="ODIN_MODEL overrides"):
        project.pick({"model": "offline/picked"})


def test_a_folder_that_goes_away_is_no_longer_open(folder):
    first, second = folder("first"), folder("second")
    project = Project(Told(roots=(first, second)))

    first.rmdir()
    project.look()

    assert project.now.roots == (second,)


def test_the_editors_trust_is_not_odins(folder):
    project = Project(Told(roots=(folder("mine", {"allowedCommands": ["rm"]}),), trusted=True))

    assert (project.now.standing, project.now.config.allowed_commands) == ("unknown", ())
    project.keep_trust()
    assert Trust().of(project.now.root) == "unknown"


def test_what_changed_before_it_was_trusted_again_is_told_as_a_change(folder):
    root = folder("mine", {"allowedCommands": ["make"]})
    project, heard = Project(Told(roots=(root,))), []
    agree_to_all(project)
    project.follow(lambda now: heard.append(now.standing))

    folder("mine", {"allowedCommands": ["make", "touch"]})
    project.decide_trust(trusted=True)

    assert heard == ["changed", "trusted"]


def test_a_change_of_what_only_restricts_asks_nothing(folder):
    root = folder("mine", {"allowedCommands": ["make"]})
    project, heard = Project(Told(roots=(root,))), []
    agree_to_all(project)
    project.follow(lambda now: heard.append((now.standing, now.config.forbidden_commands)))

    folder("mine", {"forbiddenCommands": ["rm"], "rules": [], "allowedCommands": ["make"]})
    project.look()

    assert heard == [("trusted", ("rm",))]


def test_trust_that_is_kept_already_is_not_written_again(folder):
    project = Project(Told(roots=(folder("mine"),)))
    agree_to_all(project)
    project.keep_trust()
    file = state_folder.folder() / "trust.json"
    before = file.stat().st_ino

    project.keep_trust()

    assert file.stat().st_ino == before
