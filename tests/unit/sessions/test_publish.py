"""What is published of events, and how little it takes from the work."""

import asyncio
import json

import pytest

from odin_lsp.config import PublishSettings, load
from odin_lsp.events import (
    EventRecord,
    MessageFinished,
    Notice,
    QuestionAnswered,
    QuestionAsked,
    ReviewOpened,
    TextStreamed,
    TodosChanged,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    TurnStarted,
)
from odin_lsp.ports import Answer, Position, Question, Range, Review, ReviewFile, ReviewHunk
from odin_lsp.records import Outcome, Todo
from odin_lsp.sessions.publish import MAX_WAITING, Published, Publisher
from odin_lsp.values import from_wire
from tests.support.trusting import Everything

CANARY = "canary-7f3a91c4"
NOWHERE = PublishSettings(redis="unix:///nowhere/redis.sock")
EVENTS = (
    TurnStarted("ask_mode", "anthropic/claude"),
    TextStreamed(CANARY),
    MessageFinished(CANARY, 1),
    ToolStarted("c1", "Read", {"file_path": f"/{CANARY}"}, CANARY),
    ToolFinished(call_id="c1", name="Read", status="success", description=CANARY, files=(CANARY,), diff=CANARY),
    TodosChanged((Todo("1", CANARY, "completed"), Todo("2", CANARY, "pending"))),
    Notice("warning", CANARY),
    TurnFinished(
        Outcome(turn_id="t", session_id="s", mode="ask_mode", reason="end_turn", answer=CANARY, detail=CANARY)
    ),
)


def record(event, seq=1):
    return EventRecord(seq, "turn", "session", "main", event)


@pytest.fixture
async def publish():
    """A publisher whose Redis is not there; what waits in it."""
    publishers = []

    def publish(*events, **settings):
        publisher = Publisher(NOWHERE.model_copy(update=settings), [f"secret-{CANARY}"])
        publishers.append(publisher)
        for event in events:
            publisher(record(event))
        return publisher, [json.loads(entry) for entry in publisher._waiting]

    yield publish
    for publisher in publishers:
        await publisher.close()


async def test_red_03_nothing_that_anybody_wrote_is_published_by_default(publish):
    _, entries = publish(*EVENTS)

    assert CANARY not in json.dumps(entries)
    assert [entry["kind"] for entry in entries] == [
        "turnStarted",
        "messageFinished",
        "toolStarted",
        "toolFinished",
        "todosChanged",
        "notice",
        "turnFinished",
    ]
    assert [entry["seq"] for entry in entries] == [1, 2, 3, 4, 5, 6, 7]
    assert entries[4]["details"] == {"todos": 2, "completed": 1}
    assert entries[6]["details"]["outcome"]["reason"] == "end_turn"


async def test_red_03_that_a_person_is_waited_for_is_published(publish):
    question = Question(question_id="q", kind="permission", title=CANARY, command=CANARY)
    position = Position(0, 0)
    hunk = ReviewHunk("h", Range(position, position), CANARY, CANARY, CANARY)
    file = ReviewFile(uri=CANARY, operation="edit", base_hash=CANARY, proposed_text=CANARY, hunks=(hunk, hunk))
    _, entries = publish(
        QuestionAsked(question), QuestionAnswered("q", Answer((), CANARY)), ReviewOpened(Review("r", "t", "", (file,)))
    )

    assert CANARY not in json.dumps(entries)
    assert [entry["details"] for entry in entries] == [
        {"questionId": "q", "about": "permission"},
        {"questionId": "q"},
        {"proposalId": "r", "files": 1, "hunks": 2},
    ]


async def test_red_03_every_entry_fits_the_schema(publish):
    for settings in ({}, {"content": True}):
        for entry in publish(*EVENTS, **settings)[1]:
            assert from_wire(Published, entry).version == 1


async def test_red_03_with_content_secrets_are_hidden_all_the_same(publish):
    known = f"secret-{CANARY}"
    said = (f"it is {known}", "password=hunter22", "sk-ant-api03-abcdefghijklmnop")
    _, entries = publish(
        *(MessageFinished(text, 0) for text in said),
        ToolStarted("c", "ExecuteCommand", {"command": f"curl -u {known}", "list": [known]}, known),
        content=True,
    )

    text = json.dumps(entries)
    assert not any(secret in text for secret in (known, "hunter22", "sk-ant"))
    assert entries[0]["details"]["text"] == "it is [hidden]"


async def test_what_is_too_long_loses_its_details(publish):
    _, [entry] = publish(MessageFinished("x" * 100_000, 0), content=True)

    assert (entry["kind"], entry["details"]) == ("messageFinished", {})


async def test_red_01_the_oldest_are_dropped_and_counted(publish):
    publisher, entries = publish(*(MessageFinished("", 0) for _ in range(MAX_WAITING + 50)))

    assert (len(entries), publisher.dropped) == (MAX_WAITING, 50)
    assert (entries[0]["seq"], entries[-1]["seq"]) == (51, MAX_WAITING + 50)
    assert entries[-1]["dropped"] == 49


async def test_red_01_a_redis_that_is_not_there_is_tried_again_after_longer_and_longer_pauses(caplog):
    pauses: list[float] = []
    enough = asyncio.Event()

    async def pause(seconds):
        pauses.append(seconds)
        if len(pauses) == 11:
            enough.set()
            await asyncio.Event().wait()

    publisher = Publisher(PublishSettings(redis="unix://:s3cretpass@/nowhere/redis.sock"), pause=pause)
    publisher(record(Notice("info", "")))
    async with asyncio.timeout(60):
        await enough.wait()
    await publisher.close()

    assert pauses == [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30, 30]
    assert [it.getMessage() for it in caplog.records] == [
        "events are not published to Redis (ConnectionError); it is tried again"
    ], "said once, without the address"


@pytest.mark.parametrize("url", ["http://example.org", "nonsense", "redis://host:port:s3cretpass"])
async def test_an_address_of_something_else_is_said_and_left_alone(url, caplog):
    publisher = Publisher(PublishSettings(redis=url))
    publisher(record(Notice("info", "")))
    await asyncio.wait_for(publisher._task, 60)

    assert "no address" in caplog.text
    assert "s3cretpass" not in caplog.text


def test_only_the_users_own_file_says_where_to(tmp_path):
    root, user = tmp_path / "root", tmp_path / "user.json"
    root.mkdir()
    wanted = {"publish": {"redis": "redis://evil.test"}}
    (root / "odinconfig.json").write_text(json.dumps(wanted))
    user.write_text(json.dumps({"publish": {"redis": "redis://mine"}}))

    settings, problems = load(root, settings=wanted, agreed=Everything(), user=user)

    assert settings.publish.redis == "redis://mine"
    assert len([it for it in problems if "`publish` is not taken from" in it.message]) == 2


async def test_the_state_tells_no_password(odin, tmp_path):
    user = tmp_path / "user.json"
    user.write_text(json.dumps({"publish": {"redis": "redis://me:s3cretpass@127.0.0.1:1/0?password=s3cretpass"}}))
    odin.start()
    odin.configure(publish=load(odin.root, user=user)[0].publish)

    assert (await odin.state())["config"]["publish"]["redis"] == "redis://…@127.0.0.1:1/0?…"
    assert "s3cretpass" not in json.dumps(await odin.state())


async def test_the_state_tells_no_arguments_of_a_program_that_prints_a_key(odin):
    odin.start()
    odin.configure(key_helpers={"anthropic": ("sh", "-c", "curl -d s3cretpass …")})

    assert (await odin.state())["config"]["keyHelpers"] == {"anthropic": ["sh"]}
    assert "s3cretpass" not in json.dumps(await odin.state())


async def test_a_publisher_that_fails_for_good_says_so_once_and_holds_nothing(caplog):
    async def pause(seconds):
        raise RuntimeError(CANARY)

    publisher = Publisher(NOWHERE, pause=pause)
    publisher(record(Notice("info", "one")))
    await asyncio.wait([publisher._task])
    publisher(record(Notice("info", "two")))
    await publisher.close()

    assert not publisher._waiting
    assert [it.getMessage() for it in caplog.records if it.levelname == "ERROR"] == [
        "events are not published to Redis any more (RuntimeError)"
    ]
