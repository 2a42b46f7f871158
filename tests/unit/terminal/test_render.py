"""What of a turn is printed, once, and what is drawn below it meanwhile."""

import asyncio
import io
import socket
import sys

import pytest
from rich.console import Console

from odin_lsp.events import (
    ActivityChanged,
    EventRecord,
    MessageFinished,
    StreamRolledBack,
    TextStreamed,
    ToolFinished,
    ToolProgress,
    TurnFinished,
)
from odin_lsp.records import Outcome, Usage
from odin_lsp.terminal.output import PipedOutput
from odin_lsp.terminal.render import PlainRenderer
from odin_lsp.terminal.telling import Telling


def outcome(**parts):
    return TurnFinished(
        Outcome(**{"turn_id": "t", "session_id": "s", "mode": "ask_mode", "reason": "end_turn", "answer": "", **parts})
    )


def told(telling, *events, agent="main"):
    """What is printed of these events, and what stands below it then."""
    printed, below = (Console(file=io.StringIO(), width=60) for _ in range(2))
    for event in events:
        for it in telling.settled(EventRecord(1, "t", "s", agent, event)):
            printed.print(it)
    below.print(telling.under_way(20))
    return printed.file.getvalue(), below.file.getvalue()


def test_a_text_is_drawn_while_it_streams_and_printed_once():
    telling = Telling()

    assert "half" in told(telling, TextStreamed("half"))[1]
    printed, below = told(
        telling, TextStreamed(" of it"), MessageFinished("half of it", 0), outcome(answer="half of it", steps=1)
    )

    assert printed.count("half of it") == 1
    assert "half" not in below


@pytest.mark.parametrize(("milliseconds", "said"), [(12_400, ["thought for 12 s", "so it is"]), (900, ["so it is"])])
def test_how_long_the_model_thought_stands_above_what_it_says(milliseconds, said):
    finished = MessageFinished("so it is", 0, "hm", milliseconds)

    assert [it.rstrip() for it in told(Telling(), finished)[0].splitlines()] == said


def test_an_attempt_that_failed_leaves_nothing():
    assert "gone" not in "".join(told(Telling(), TextStreamed("gone"), StreamRolledBack()))


def test_what_a_command_prints_is_folded_to_its_end():
    output = "".join(f"line {number}\n" for number in range(1, 21))
    finished = ToolFinished(call_id="c", name="ExecuteCommand", status="success", description="ran it", output=output)
    telling = Telling()

    assert "line 20" in told(telling, ToolProgress("c", output))[1]
    printed, below = told(telling, finished)

    assert printed.splitlines() == [
        "✓ ExecuteCommand ran it",
        "  … 12 lines above",
        *(f"  line {number}" for number in range(13, 21)),
    ]
    assert "line" not in below


def test_all_that_a_command_of_the_user_prints_is_shown_once():
    output = "".join(f"line {number}\n" for number in range(1, 21))
    finished = ToolFinished(
        call_id="user-1", name="ExecuteCommand", status="success", description="ran it", output=output
    )

    printed, _ = told(Telling(), finished, outcome(answer=output))

    assert [printed.count(f"line {number}\n") for number in (1, 20)] == [1, 1]


def test_what_a_helper_says_is_for_the_model():
    assert told(Telling(), TextStreamed("psst"), MessageFinished("psst", 0), agent="explore-1")[0] == ""


def test_what_odin_does_is_said_in_plain_words():
    assert "waiting for the model" in told(Telling(), ActivityChanged("waiting_token"))[1]


@pytest.mark.parametrize(
    ("events", "out", "err"),
    [
        (
            (MessageFinished("so far", 0), outcome(reason="interrupted", usage=Usage(25, 1))),
            "so far\n",
            "interrupted · 25 in · 1 out · 0.0 s\n",
        ),
        ((MessageFinished("I look", 1), outcome(reason="failed", detail="no key")), "", "failed: no key\n"),
    ],
    ids=["interrupted", "failed"],
)
async def test_a_piped_answer_that_is_cut_off_is_kept_and_its_price_is_told(capfd, events, out, err):
    output = PipedOutput()
    renderer = PlainRenderer(output)
    for event in events:
        renderer.show(EventRecord(1, "t", "s", "main", event))
    await output.close()

    assert capfd.readouterr() == (out, err)


async def test_what_is_piped_on_goes_at_once_after_a_pause_and_then_at_a_pace(monkeypatch):
    reader, stdout = socket.socketpair(type=socket.SOCK_SEQPACKET)
    reader.setblocking(False)
    with reader, stdout, stdout.makefile("w") as file:
        monkeypatch.setattr(sys, "stdout", file)
        output = PipedOutput(pace=3600)
        pieces = []
        for text in ("first", "second", "third"):
            output.write_text(text)
            await asyncio.sleep(0)
            if not pieces:
                pieces.append(await asyncio.get_running_loop().sock_recv(reader, 100))
        await output.close()
        pieces.append(reader.recv(100))

    assert pieces == [b"first", b"secondthird"]
