"""Who wrote a line, as the session of its turn tells."""

import time

import pytest

from odin_lsp.models.base import Connection
from odin_lsp.models.reference import ModelRef
from odin_lsp.models.scripted import connect
from odin_lsp.ports import Decision
from tests.support.reviewing import ScriptedEditor, accept

LINE = 1
"""The one that says hello."""


def modify(hunk):
    return Decision(hunk_id=hunk.id, decision="modify", text=f"{hunk.new_text} there")


@pytest.fixture
def path(odin):
    return odin.root / "greet.py"


@pytest.fixture
def edited(odin, call, path):
    """Has the line rewritten for some money, by somebody who decides as told."""

    async def edited(decide=accept):
        odin.person = ScriptedEditor(None, decide)
        core = odin.start()
        odin.person.files = core.files
        odin.script(
            {"calls": [call("Read", file_path=str(path))], "usage": {"costUsd": 0.25}},
            {"calls": [call("EditTool", file_path=str(path), old_string="hello", new_string="hi")]},
            {"text": "done", "usage": {"costUsd": 0.5}},
        )
        model = connect(ModelRef.of(core.models.selected), Connection())
        core.models.get = lambda ref: model  # else it would be free of charge
        await odin.take("say hi", "edit_mode")
        return core.authorship

    return edited


async def test_a_line_has_what_the_user_asked_for_and_what_the_whole_turn_has_cost(odin, edited, path):
    authorship = await edited()

    _, story = await authorship.at(path, LINE)

    assert (story.said, story.model, story.cost_usd) == ("say hi", f"scripted/{odin.script_file}", 0.75)


async def test_a_line_has_the_time_at_which_it_was_written(edited, path):
    before = time.time()
    authorship = await edited()

    [written] = await authorship.of(path)

    assert before <= written.at <= time.time()


async def test_a_line_that_the_user_has_accepted_as_it_was_proposed_is_accepted(edited, path):
    authorship = await edited()

    [written] = await authorship.of(path)

    assert written.state == "accepted"


async def test_a_line_that_the_user_has_changed_in_the_review_is_modified(edited, path):
    authorship = await edited(modify)

    [written] = await authorship.of(path)

    assert "hi there" in path.read_text()
    assert written.state == "modified"


async def test_a_line_that_is_not_odins_has_no_author(edited, path):
    authorship = await edited()

    assert await authorship.at(path, LINE - 1) is None
