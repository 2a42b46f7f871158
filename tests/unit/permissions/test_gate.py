"""Questions to the user: bound to what was shown, remembered only as far as they said."""

import asyncio
from dataclasses import replace

import pytest

from odin_lsp.config import Config
from odin_lsp.errors import PermissionDenied
from odin_lsp.permissions.approvals import Approvals
from odin_lsp.permissions.gate import Gate, Want
from odin_lsp.ports import Answer

WANT = Want(
    tool="ExecuteCommand",
    title="May Odin run this command?",
    reason="it changes files",
    what="git commit -m x",
    mode="edit_mode",
    cwd="/ws",
    pattern="git commit",
)
HOST = Want(tool="WebFetch", title="May it?", reason="r", what="{}", mode="ask_mode", pattern="example.org")


@pytest.fixture
def saved(tmp_path):
    return Approvals(tmp_path / "state" / "approvals.json")


@pytest.fixture
def gate_for(person, saved):
    return lambda workspace: Gate(person, Config, lambda: workspace, saved)


@pytest.fixture
def gate(gate_for, tmp_path):
    return gate_for(tmp_path)


@pytest.mark.parametrize(
    "answer", [None, Answer(), Answer(("deny",)), Answer(("allow_everything",)), Answer(text="yes")]
)
async def test_anything_but_a_clear_yes_is_a_no(gate, person, answer):
    person.answers = [answer]

    with pytest.raises(PermissionDenied):
        await gate.ask(WANT)


async def test_two_answers_at_once_are_no_answer(gate, person):
    person.answers = [Answer(("allow_once", "deny"))]

    with pytest.raises(PermissionDenied):
        await gate.ask(WANT)


async def test_the_reason_of_a_no_reaches_the_model(gate, person):
    person.answers = [Answer(("deny",), "use the script")]

    with pytest.raises(
        PermissionDenied,
        match="did not allow the command `git commit -m x`: use the script; other",
    ):
        await gate.ask(WANT)


@pytest.mark.parametrize(("pattern", "shown"), [("git commit", "git commit …"), ("nodemon 'a b' $", "nodemon 'a b'")])
async def test_the_question_tells_whether_more_words_may_follow(gate, person, pattern, shown):
    person.answers = [Answer(("allow_session",))]
    await gate.ask(replace(WANT, pattern=pattern))

    [question] = person.questions
    assert question.options[1].label == f"Allow “{shown}” in this session"


async def test_the_command_that_was_allowed_for_good_is_still_just_that_command(gate_for, person, tmp_path):
    person.answers = [Answer(("allow_always",))]
    await gate_for(tmp_path).ask(replace(WANT, pattern="nodemon x.js $"))

    rules = gate_for(tmp_path).rules("edit_mode")
    assert rules.allowing(["nodemon", "x.js"], "edit_mode", tmp_path)
    assert not rules.allowing(["nodemon", "x.js", "--exec"], "edit_mode", tmp_path)


async def test_the_question_shows_what_where_and_why(gate, person):
    person.answers = [Answer(("allow_once",))]
    await gate.ask(replace(WANT, files=(("run.sh", "0" * 64),)))

    [question] = person.questions
    assert question.command == "git commit -m x"
    assert question.cwd == "/ws"
    assert question.detail == "git commit -m x\nin /ws\nruns run.sh\nit changes files"
    assert question.paths == ("run.sh",)
    assert [it.id for it in question.options] == [
        "allow_once",
        "allow_session",
        "allow_workspace",
        "allow_always",
        "deny",
    ]


async def test_c_057_what_cannot_be_edited_is_not_allowed_in_another_form(gate, person):
    person.answers = [Answer(("allow_once",), command="git push")]

    with pytest.raises(PermissionDenied):
        await gate.ask(WANT)


async def test_once_is_once(gate, person):
    person.answers = [Answer(("allow_once",)), None]
    await gate.ask(WANT)

    with pytest.raises(PermissionDenied):
        await gate.ask(WANT)
    assert gate.remembered("ExecuteCommand", "edit_mode") == ()


async def test_what_is_never_offered_is_never_remembered(gate, person):
    person.answers = [Answer(("allow_always",))]

    with pytest.raises(PermissionDenied):
        await gate.ask(replace(WANT, pattern=None))
    assert [it.id for it in person.questions[0].options] == ["allow_once", "deny"]


@pytest.mark.parametrize(
    ("scope", "here", "elsewhere", "later"),
    [
        ("allow_session", ("git commit",), (), ()),
        ("allow_workspace", ("git commit",), (), ("git commit",)),
        ("allow_always", ("git commit",), ("git commit",), ("git commit",)),
    ],
)
async def test_scopes(gate, gate_for, person, tmp_path, scope, here, elsewhere, later):
    person.answers = [Answer((scope,))]
    await gate.ask(WANT)

    assert gate.remembered("ExecuteCommand", "edit_mode") == here
    assert gate.remembered("ExecuteCommand", "plan_mode") == ()
    assert gate.remembered("WebFetch", "edit_mode") == ()
    assert gate_for(tmp_path / "other").remembered("ExecuteCommand", "edit_mode") == elsewhere
    assert gate_for(tmp_path).remembered("ExecuteCommand", "edit_mode") == later
    assert gate.rules("edit_mode").allowing(("git", "commit"), "edit_mode", tmp_path)
    assert not gate.rules("plan_mode").allowing(("git", "commit"), "plan_mode", tmp_path)


async def test_what_was_removed_counts_no_more(gate, person, saved):
    person.answers = [Answer(("allow_always",))]
    await gate.ask(WANT)
    saved.remove(saved.all()[0].id)

    assert gate.remembered("ExecuteCommand", "edit_mode") == ()


async def test_c_059_what_was_allowed_for_the_session_is_listed_removed_and_ends_with_it(
    gate, gate_for, person, tmp_path
):
    person.answers = [Answer(("allow_session",)), Answer(("allow_session",))]
    await gate.ask(WANT)
    await gate.ask(HOST)
    commit, host = gate.approvals()

    assert (commit.pattern, host.pattern) == ("git commit", "example.org")
    assert gate_for(tmp_path).approvals() == ()
    assert gate.revoke(commit.id)
    assert not gate.revoke(commit.id)
    assert not gate.rules("edit_mode").allowing(("git", "commit"), "edit_mode", tmp_path)
    await gate.close()
    assert gate.remembered("WebFetch", "ask_mode") == ()


async def test_several_wants_of_a_step_are_one_question(gate, person):
    person.answers = [Answer(("allow_once",))]
    await gate.ask_together([WANT, HOST])
    await gate.ask(HOST)
    await gate.ask(WANT)

    [question] = person.questions
    assert question.title == "Allow these 2 actions?"
    assert "1. git commit -m x\nin /ws" in question.detail
    with pytest.raises(PermissionDenied):
        await gate.ask(WANT)


async def test_a_yes_to_several_things_is_none_to_another(gate, person):
    person.answers = [Answer(("allow_once",)), None]
    await gate.ask_together([WANT, HOST])

    with pytest.raises(PermissionDenied):
        await gate.ask(replace(WANT, what="git commit -m x\u00a0"))


@pytest.mark.parametrize("answer", [None, Answer(("deny",), "no more")])
async def test_a_no_to_several_things_is_a_no_to_each(gate, person, answer):
    person.answers = [answer]
    await gate.ask_together([WANT, HOST])

    for want in (WANT, HOST):
        with pytest.raises(PermissionDenied):
            await gate.ask(want)
    assert len(person.questions) == 1


async def test_one_by_one_asks_again_and_a_step_is_forgotten(gate, person):
    person.answers = [Answer(("one_by_one",)), Answer(("allow_once",)), Answer(("allow_once",)), None]
    await gate.ask_together([WANT, HOST])
    await gate.ask(WANT)
    assert len(person.questions) == 2

    await gate.ask_together([WANT, HOST])
    gate.forget_step()
    with pytest.raises(PermissionDenied):
        await gate.ask(WANT)


async def test_questions_come_one_after_the_other(person, gate):
    at_once = 0
    most = 0

    async def slow(question):
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        await asyncio.sleep(0)
        at_once -= 1
        return Answer(("allow_once",))

    person.ask = slow
    await asyncio.gather(*(gate.ask(WANT) for _ in range(5)))

    assert most == 1


async def test_an_approval_that_cannot_be_saved_counts_in_the_session(person, tmp_path):
    (tmp_path / "file").touch()
    gate = Gate(person, Config, lambda: tmp_path, Approvals(tmp_path / "file" / "approvals.json"))
    person.answers = [Answer(("allow_always",))]

    await gate.ask(WANT)

    assert gate.remembered(WANT.tool, WANT.mode) == (WANT.pattern,)
    assert "It applies to this session only." in person.notices[0]
