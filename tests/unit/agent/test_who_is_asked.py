"""Whenever somebody waits for a person, those who follow can see it: from the question to its answer."""

import pytest

from odin_lsp.events import QuestionAnswered, QuestionAsked
from odin_lsp.ports import Question
from odin_lsp.sessions import replay
from tests.support.reviewing import ScriptedEditor


@pytest.fixture
def questions(odin):
    """What was asked, each with its answer."""

    def questions():
        answers = {it.question_id: it.answer for it in odin.of(QuestionAnswered)}
        return [(it.question.kind, answers[it.question.question_id]) for it in odin.of(QuestionAsked)]

    return questions


@pytest.fixture
def edited(odin, call):
    """Has a file that is open edited, by somebody who answers as told."""

    async def edited(says="save", **settings):
        odin.settings.update(settings)
        path = odin.root / "greet.py"
        odin.person = ScriptedEditor(None, says=says)
        core = odin.start()
        odin.person.files = core.files
        core.files.buffers.open(path.as_uri(), 1, path.read_text())
        odin.script(
            {"calls": [call("Read", file_path=str(path))]},
            {"calls": [call("EditTool", file_path=str(path), old_string="hello", new_string="hi")]},
            {"text": "done"},
        )
        return await odin.take("say hi", "edit_mode")

    return edited


@pytest.mark.parametrize(
    ("kind", "tool", "arguments"),
    [("permission", "ExecuteCommand", {"command": "touch x"}), ("outside", "Read", {"file_path": "/etc/hostname"})],
)
async def test_what_is_asked_before_a_call_is_told(odin, call, questions, kind, tool, arguments):
    odin.script({"calls": [call(tool, **arguments)]}, {"text": "done"})

    await odin.take("go", "edit_mode")

    assert questions() == [(kind, None)]


async def test_what_a_helper_asks_is_told_as_its_own(odin, call):
    asked: list[tuple[str, str]] = []
    odin.start().stream.subscribe(
        lambda it: asked.append((it.agent_id, it.event.kind)) if it.event.kind.startswith("question") else None
    )
    odin.script(
        {"calls": [call("AgentTool", description="look", prompt="LOOK")]},
        {"calls": [call("Read", file_path="/etc/hostname")], "when": {"contains": "LOOK"}},
        {"text": "not seen", "when": {"contains": "LOOK"}},
        {"text": "done"},
    )

    await odin.take("go")

    assert asked == [("ask-1", "questionAsked"), ("ask-1", "questionAnswered")]


async def test_that_a_review_waits_is_told_and_how_it_ended(odin, edited, questions):
    outcome = await edited()

    [(kind, answer)] = questions()
    assert (kind, answer.text) == ("review", "1 accepted")
    waits = odin.kinds().index("reviewOpened"), odin.kinds().index("questionAsked")
    ends = odin.kinds().index("questionAnswered"), odin.kinds().index("reviewClosed")
    assert waits[0] < waits[1] < ends[0] < ends[1]
    told_later = [it.event.kind for turn in replay.turns(odin.core.sessions.folder, outcome.session_id) for it in turn]
    assert not {"questionAsked", "questionAnswered"} & set(told_later)


async def test_what_nobody_has_to_decide_is_not_asked(edited, questions):
    await edited(review={"policy": "auto"})

    assert questions() == []


async def test_whether_to_save_is_asked_as_part_of_the_turn(edited, questions):
    await edited(review={"policy": "auto", "save": "ask"})

    [(kind, answer)] = questions()
    assert (kind, answer.option_ids) == ("question", ("save",))


async def test_what_is_asked_apart_from_turns_is_told_too(odin, questions):
    question = Question(question_id="1", kind="trust", title="Trust them?")

    await odin.start().asker.ask(question)

    assert questions() == [("trust", None)]
