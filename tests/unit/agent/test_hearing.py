"""In which order is told what a call and its command do."""

from dataclasses import replace

from odin_lsp.agent.hearing import Heard
from odin_lsp.events import BackgroundFinished, Event, ToolProgress

PROGRESS = ToolProgress("c1", "done")
ENDED = BackgroundFinished(
    call_id="c1",
    background_id="background-1",
    command="true",
    description="",
    status="exited",
    message="exit code 0",
    log="/log",
)


def test_a_command_that_ends_before_its_call_is_told_of_behind_it():
    told: list[Event] = []
    heard = Heard(told.append)

    heard(PROGRESS)
    heard(ENDED)
    assert told == [PROGRESS]

    heard.end()
    assert told == [PROGRESS, replace(ENDED, output="done")]


def test_a_command_that_ends_later_is_told_of_at_once():
    told: list[Event] = []
    heard = Heard(told.append)

    heard.end()
    heard(ENDED)

    assert told == [ENDED]
