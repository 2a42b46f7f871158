"""Roles: which there are, what they change, and that they change it at once."""

import json
from types import SimpleNamespace

import pytest

from odin_lsp.config import Config, load, roles
from odin_lsp.errors import RequestError
from odin_lsp.events import RoleChanged
from odin_lsp.ports import Answer
from odin_lsp.project.project import Project, Told
from odin_lsp.server.commands.project import role as role_command
from tests.support.trusting import Everything

CAREFUL = {
    "prompt": "Take no risks.",
    "models": ["offline/first", "offline/second"],
    "disabledTools": ["WebFetch"],
    "rules": [{"tool": "ExecuteCommand", "pattern": "mkdir", "decision": "deny", "reason": "not here"}],
}


def test_c_065_the_builder_is_first_then_the_planner_then_the_others_by_name():
    config = Config.model_validate({"roles": {"writer": {}, "careful": {}, "planner": {"prompt": "mine"}}})

    assert list(roles.known(config)) == ["builder", "planner", "careful", "writer"]
    assert roles.known(config)["planner"].prompt == "mine"


def test_c_065_roles_are_the_users_then_the_trusted_projects_who_take_back_nothing_that_is_forbidden(tmp_path):
    user = tmp_path / "user.json"
    user.write_text(json.dumps({"roles": {"careful": CAREFUL}}))
    here = {"careful": {"prompt": "Ours.", "rules": []}, "tester": {"prompt": "Test."}}
    (tmp_path / "odinconfig.json").write_text(json.dumps({"roles": here}))

    untrusted, problems = load(tmp_path, user=user)
    trusted, none = load(tmp_path, user=user, agreed=Everything())

    assert list(untrusted.roles) == ["careful"]
    assert [it.needs_trust for it in problems] == [True]
    assert none == ()
    assert list(trusted.roles) == ["careful", "tester"]
    assert trusted.roles["careful"].prompt == "Ours."
    assert [it.pattern for it in trusted.roles["careful"].rules] == ["mkdir"]
    assert trusted.roles["careful"].models == ("offline/first", "offline/second")


def test_a_role_with_something_wrong_in_it_is_not_used_at_all(tmp_path):
    bad = {"prompt": "x", "rules": [{"tool": "ExecuteCommand", "pattern": "'", "decision": "deny"}]}

    config, [problem] = load(tmp_path, settings={"roles": {"bad": bad, "good": {}}})

    assert list(config.roles) == ["good"]
    assert str(problem).endswith("the role is not used")


def project_with(tmp_path, **settings):
    return Project(Told(roots=(tmp_path,), settings={"roles": {"careful": CAREFUL}, **settings}))


def test_c_066_models_tools_and_rules_are_the_roles_at_once(tmp_path):
    project = project_with(tmp_path, model="offline/odin", fallbackModels=["offline/last"])
    heard = []
    project.follow(heard.append)

    project.switch_role("careful")
    careful = project.now.config
    project.switch_role("builder")

    assert (careful.role, careful.model, careful.fallback_models) == ("careful", "offline/first", ("offline/second",))
    assert careful.tools.disabled == ("WebFetch",)
    assert [it.reason for it in careful.rules] == ["not here"]
    assert (project.now.config.model, project.now.config.rules) == ("offline/odin", ())
    assert [it.config.role for it in heard] == ["careful", "builder"]
    with pytest.raises(RequestError, match="there are builder, planner, careful"):
        project.switch_role("nobody")


def test_c_091_the_newer_word_counts_of_the_model_that_was_picked_and_the_roles(tmp_path):
    project = project_with(tmp_path, model="offline/odin")
    project.pick({"model": "offline/picked"})
    assert project.now.models[0] == "offline/picked"

    project.switch_role("careful")
    assert project.now.models[0] == "offline/first"
    project.pick({"model": "offline/again"})
    assert project.now.models[0] == "offline/again"
    assert list(project.settle_picks()) == []
    project.switch_role("planner")
    assert project.now.models[0] == "offline/again"


def test_c_091_what_the_command_line_says_of_the_model_goes_before_the_role(tmp_path):
    said = {"settings": {"roles": {"careful": CAREFUL}}, "flags": {"model": "offline/odin", "role": "careful"}}
    project = Project(Told(roots=(tmp_path,), **said))

    assert (project.now.config.role, project.now.models[0]) == ("careful", "offline/odin")


def test_a_role_that_is_not_there_is_told_and_the_builder_works(tmp_path):
    project = project_with(tmp_path, role="nobody")

    assert project.now.config.role == "builder"
    assert "there is no role `nobody`" in str(project.now.problems[0])


async def test_c_066_a_switched_role_is_told_to_clients_and_the_model_and_its_rules_hold(odin, call):
    odin.settings["roles"] = {"careful": {**CAREFUL, "models": []}}
    odin.person.answers = [Answer(("allow_once",))] * 2
    make = {"calls": [call("ExecuteCommand", command="mkdir one")]}
    odin.script(make, {"text": "made"}, {"calls": [call("ExecuteCommand", command="mkdir two")]}, {"text": "not made"})
    core = odin.start()
    await odin.take("go", "edit_mode")

    state = await role_command(
        SimpleNamespace(core=core, project=odin.project, is_guest=False), {"role": "careful"}, None
    )
    await odin.take("go on", "edit_mode")

    assert (state["role"], [it["name"] for it in state["roles"]]) == ("careful", ["builder", "planner", "careful"])
    assert odin.of(RoleChanged) == [RoleChanged("careful")]
    assert [path.name for path in odin.root.iterdir() if path.is_dir()] == ["one"]
    said = [message.text for message in odin.session.messages if message.role == "user"]
    assert ["Take no risks." in it for it in said if "Mode: edit_mode" in it] == [False, True]
