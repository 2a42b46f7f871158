"""What a person types with a slash, and what Odin does itself."""

from dataclasses import replace
from pathlib import Path

import pytest

from odin_lsp.errors import RequestError, SessionError
from odin_lsp.events import Compacted, ModelChanged, TurnStarted
from odin_lsp.extensions.builtin_commands import BUILTIN
from odin_lsp.messages import Text
from odin_lsp.server.declared import command_names
from tests.support.trusting import agree_to_all


@pytest.fixture
def write(odin):
    def write(path, text):
        place = odin.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)

    return write


@pytest.fixture
def typed(odin):
    """Take what a person types, as front ends do."""

    async def typed(text, mode="ask_mode"):
        own = odin.start().own
        found = own.understood(text, mode)
        live = odin.live
        message = replace(odin.message(found.text, found.mode), errand=own.errand(live, found))
        return await live.turns.start(message).outcome()

    return typed


def test_every_command_of_the_table_is_one_of_the_protocol():
    assert {it.command for it in BUILTIN.values() if it.command} <= set(command_names())


def test_the_page_lists_them():
    page = (Path(__file__).parents[3] / "docs" / "extensions.md").read_text()
    rows = (f"| `{f'/{it.name} {it.hint}'.strip()}` | {it.description} |" for it in BUILTIN.values())

    assert [row for row in rows if row not in page.replace("\\|", "|")] == []


@pytest.mark.parametrize("name", [name for name, it in BUILTIN.items() if it.how == "answer" and name != "compact"])
async def test_what_odin_does_itself_is_answered_without_a_model(odin, typed, name):
    odin.script({"text": "hello"})
    await typed("hello")

    outcome = await typed(f"/{name}")

    assert (outcome.reason, outcome.steps, outcome.answer != "") == ("end_turn", 0, True)
    assert len(odin.session.messages) == 2
    assert odin.of(TurnStarted)[-1].text == f"/{name}"


async def test_help_names_all_that_there_is(odin, typed, write):
    write(".claude/commands/fix.md", "---\ndescription: mend it\nargument-hint: '[issue]'\n---\nFix $1.\n")
    write(".claude/skills/deploy/SKILL.md", "---\nname: deploy\ndescription: ship it\n---\nShip.\n")
    odin.start(trusted=True)

    answer = (await typed("/help")).answer

    assert "- `/compact [what to keep above all]`: " in answer
    assert "- `/fix [issue]`: mend it" in answer
    assert "- `/deploy`: ship it" in answer


async def test_a_model_is_picked_where_the_one_before_cannot_be_asked(odin, typed):
    odin.settings["model"] = "anthropic/claude-opus-4-6"
    odin.script()

    outcome = await typed("/model offline/odin")

    assert outcome.answer == "The model is offline/odin now."
    assert odin.of(ModelChanged)[-1].selected == "offline/odin"


async def test_other_models_are_listed_or_it_is_said_that_there_are_none(odin, typed):
    odin.script()
    assert (await typed("/model")).answer.endswith(" Others:\n- `/model offline/odin`")

    await typed("/model offline/odin")
    assert (await typed("/model")).answer == "The model is offline/odin. No others are known."


async def test_a_role_is_switched_to(odin, typed):
    odin.script()

    outcome = await typed("/role planner")

    assert outcome.answer == "The role is planner now."
    assert odin.project.now.config.role == "planner"


async def test_compact_keeps_what_it_is_told_to(odin, typed):
    odin.script({"text": "hello"}, {"text": "the names"})
    await typed("hello")

    outcome = await typed("/compact the names of things")

    assert odin.of(Compacted)
    assert "conversation" in outcome.answer


async def test_a_mode_is_taken_for_the_words_behind_it(odin, typed):
    odin.script({"text": "# Plan"})

    outcome = await typed("/plan a way out")

    assert outcome.mode == "plan_mode"
    assert odin.session.messages[0].parts[-1] == Text("a way out")


async def test_what_the_model_is_told_to_do_can_be_told_otherwise(odin, typed, write):
    odin.script({"text": "fine"}, {"text": "mine"})
    odin.start(trusted=True)
    outcome = await typed("/review the README", "edit_mode")
    own = str(odin.session.messages[0])
    write(".claude/commands/review.md", "Review as I like it.")
    agree_to_all(odin.project)

    await typed("/review")

    assert outcome.mode == "ask_mode"
    assert "not committed" in own
    assert "the README" in own
    assert "Review as I like it." in str(odin.session.messages[2])


def test_the_other_names_are_odins(odin, write):
    write(".claude/commands/undo.md", "Do something else.")
    odin.start(trusted=True)

    assert [(it.name, it.state) for it in odin.project.now.extensions.listed] == [("undo", "hidden")]
    assert odin.core.own.understood("/undo", "ask_mode").own


MISTAKES = {
    "/comapct": "there is no command /comapct; did you mean /compact?",
    "/qqqqqq now": "there is no command /qqqqqq; /help lists those that there are",
    "/fix": "/fix is brought by this folder, which you do not trust; it is not used",
    "/plan": "say what you want behind it: /plan what to plan",
    "/trust": "/trust is for you to decide, not for a message: use the command of your editor, or "
    "`odin-lsp permissions trust`",
}


@pytest.mark.parametrize("text", MISTAKES)
async def test_a_name_that_cannot_be_used_is_an_error_that_says_why(odin, write, text):
    write(".claude/commands/fix.md", "Fix it.")

    with pytest.raises(RequestError) as error:
        odin.start().own.understood(text, "ask_mode")

    assert str(error.value) == MISTAKES[text]


@pytest.mark.parametrize("text", ["/usr/bin/env is what?", "/tmp is full", "/ is a slash", "a /help", "//help"])
def test_a_path_is_no_command(odin, text):
    assert odin.start().own.understood(text, "ask_mode").own is None


async def test_what_changes_the_session_is_no_turn_of_it(odin, typed):
    odin.script({"text": "hello"})
    await typed("hello")
    own, first = odin.core.own, odin.session.id

    new, _ = await own.apart(own.understood("/new Another one", "ask_mode"), None, odin.core.sessions)
    listed = await own.apart(own.understood("/resume", "ask_mode"), None, odin.core.sessions)
    back, _ = await own.apart(own.understood(f"/resume {first}", "ask_mode"), None, odin.core.sessions)
    cleared, _ = await own.apart(own.understood("/clear", "ask_mode"), None, odin.core.sessions)

    assert new.session.title == "Another one"
    assert f"/resume {first}" in listed[1]
    assert (back.session.id, cleared.session.messages, cleared.session.turns) == (first, [], [])
    with pytest.raises(SessionError):
        await own.apart(own.understood("/resume nobody", "ask_mode"), None, odin.core.sessions)
