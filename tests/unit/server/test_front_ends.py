"""Several who could answer: all are asked, one is heard."""

import asyncio
from types import SimpleNamespace

import pytest

from odin_lsp.events import EventRecord, QuestionAnswered, QuestionAsked
from odin_lsp.ports import Answer, Decision, Position, Question, Range, Review, ReviewAnswer, ReviewFile, ReviewHunk
from odin_lsp.server.client import Abilities
from odin_lsp.server.front_ends import FrontEnds
from odin_lsp.server.rpc import ClientError

QUESTION = Question(question_id="q", kind="permission", title="Run?")
REVIEW = Review("p", "t", "why", (), "s")
_PLACE = Range(Position(0, 0), Position(0, 1))
_FILE = ReviewFile(
    uri="file:///a", operation="edit", base_hash="", proposed_text="", hunks=(ReviewHunk("h", _PLACE, "a", "b", ""),)
)
FOREIGN = Review("p", "t", "why", (_FILE,), "s", origin="claude-code")
YES = Answer(("allow_once",))
ACCEPTED = ReviewAnswer(decisions=(Decision(hunk_id="h", decision="accept"),))


class Person:
    """At one of them: it is asked, and answers when the test says so."""

    def __init__(self):
        self.asked = asyncio.Event()
        self.answer = asyncio.get_running_loop().create_future()
        self.is_called_back = False
        self.heard = []

    async def ask(self, _):
        self.asked.set()
        try:
            return await self.answer
        except asyncio.CancelledError:
            self.is_called_back = True
            raise

    review = ask

    def notify(self, level, message):
        self.heard.append(message)

    apply = save = reload = close_review = ask


@pytest.fixture
async def editor():
    return Person()


@pytest.fixture
async def front_ends(editor, request):
    front_ends = FrontEnds(editor, has_screen="without_editor" not in request.fixturenames)
    front_ends.follow(EventRecord(1, "t", "s", "main", QuestionAsked(QUESTION)))
    return front_ends


@pytest.fixture
def guest(front_ends):
    def join(*, can=True, session="s", agent=False):
        person = Person()
        abilities = Abilities(question=can, review=can, agent=agent)
        beside = SimpleNamespace(editor=person, abilities=abilities, shows=lambda it: it == session)
        front_ends.join(beside)
        return person

    return join


async def test_the_first_answer_counts_and_the_others_are_called_back(front_ends, editor, guest):
    one, two = guest(), guest()
    asking = asyncio.create_task(front_ends.ask(QUESTION))
    await asyncio.gather(*(it.asked.wait() for it in (editor, one, two)))
    one.answer.set_result(YES)

    assert await asking == YES
    assert (editor.is_called_back, two.is_called_back) == (True, True)


async def test_who_has_no_answer_leaves_it_to_the_others(front_ends, editor, guest):
    one = guest()
    asking = asyncio.create_task(front_ends.ask(QUESTION))
    await one.asked.wait()
    one.answer.set_result(None)
    editor.answer.set_result(YES)

    assert await asking == YES


async def test_no_answer_of_all_is_none(front_ends, editor, guest):
    one = guest()
    one.answer.set_result(None)
    editor.answer.set_result(None)

    assert await front_ends.ask(QUESTION) is None


async def test_who_does_not_show_the_session_or_cannot_answer_is_not_asked(front_ends, editor, guest):
    others = [guest(can=False), guest(session="another")]
    editor.answer.set_result(YES)

    assert await front_ends.ask(QUESTION) == YES
    assert [it.asked.is_set() for it in others] == [False, False]


async def test_a_question_apart_from_sessions_is_the_editors(front_ends, editor, guest):
    one = guest()
    front_ends.follow(EventRecord(2, "t", "s", "main", QuestionAnswered("q")))
    editor.answer.set_result(None)

    assert await front_ends.ask(QUESTION) is None
    assert not one.asked.is_set()


async def test_a_review_outlives_a_guest_that_is_gone(front_ends, editor, guest):
    one = guest()
    reviewing = asyncio.create_task(front_ends.review(REVIEW))
    await one.asked.wait()
    one.answer.set_exception(ClientError("gone", 0))
    await asyncio.sleep(0)
    assert not reviewing.done()
    editor.answer.set_result(ACCEPTED)

    assert await reviewing == ACCEPTED


async def test_an_editor_that_cannot_show_a_review_leaves_it_to_guests_or_says_so(front_ends, editor, guest):
    one = guest()
    editor.answer.set_exception(ClientError("no", 0))
    one.answer.set_result(ACCEPTED)
    assert await front_ends.review(REVIEW) == ACCEPTED

    one.answer = asyncio.get_running_loop().create_future()
    one.answer.set_result(None)
    with pytest.raises(ClientError):
        await front_ends.review(REVIEW)


async def test_a_cancelled_question_is_taken_back_everywhere(front_ends, editor, guest):
    one = guest()
    asking = asyncio.create_task(front_ends.ask(QUESTION))
    await asyncio.gather(editor.asked.wait(), one.asked.wait())
    asking.cancel()
    await asyncio.wait([asking])

    assert (editor.is_called_back, one.is_called_back) == (True, True)


async def test_all_hear_what_belongs_to_no_turn(front_ends, editor, guest):
    one = guest()
    front_ends.notify("warning", "look")

    assert (editor.heard, one.heard) == (["look"], ["look"])


async def test_the_editor_decides_on_what_an_agent_of_others_wants_and_the_agent_never(front_ends, editor, guest):
    agent, terminal = guest(agent=True), guest(session="another")
    asking = asyncio.create_task(front_ends.ask(QUESTION))
    reviewing = asyncio.create_task(front_ends.review(FOREIGN))
    await asyncio.gather(editor.asked.wait(), terminal.asked.wait())
    editor.answer.set_result(None)
    terminal.answer.set_result(None)

    assert (await asking, await reviewing) == (None, None)
    assert not agent.asked.is_set()


@pytest.fixture
async def without_editor(editor, front_ends):
    editor.answer.set_result(None)
    return front_ends


async def test_without_an_editor_a_terminal_decides_on_what_an_agent_wants(without_editor, guest):
    agent, terminal = guest(agent=True), guest(session="another")
    terminal.answer.set_result(ACCEPTED)

    assert await without_editor.review(FOREIGN) == ACCEPTED
    assert not agent.asked.is_set()


async def test_where_nobody_else_is_the_agent_asks_its_user(without_editor, guest):
    one_shot, agent = guest(), guest(agent=True)
    one_shot.answer.set_result(None)
    agent.answer.set_result(ACCEPTED)
    assert await without_editor.review(FOREIGN) == ACCEPTED

    agent.answer = asyncio.get_running_loop().create_future()
    agent.answer.set_result(YES)
    assert await without_editor.ask(QUESTION) == YES


async def test_what_an_agent_wants_is_refused_where_nobody_can_be_asked(without_editor, guest):
    guest(agent=True, can=False)

    answer = await without_editor.review(FOREIGN)

    assert [(it.decision, "nobody can review it" in it.reason) for it in answer.decisions] == [("reject", True)]


@pytest.mark.parametrize("is_agent", [True, False])
async def test_if_the_only_one_who_could_decide_leaves_a_review_waits(without_editor, guest, is_agent):
    one = guest(agent=is_agent)
    one.answer.set_exception(ClientError("gone", 0))

    assert await without_editor.review(FOREIGN) is None
    assert await without_editor.review(REVIEW) is None


async def test_what_an_agent_wanted_that_is_gone_waits(without_editor):
    assert await without_editor.review(FOREIGN) is None
