"""Which commands ran, and how they ended: for whoever asks, at once and later."""

import re

import pytest

from odin_lsp.events import ToolFinished
from odin_lsp.ports import Answer
from odin_lsp.sessions.export import exported, transcript

LINES = "\n".join(map(str, range(1, 31)))
HUSH = {"command": "seq 30", "description": "count"}


@pytest.fixture(autouse=True)
def allowed(person):
    person.answers += [Answer(("allow_once",))] * 5


async def test_which_command_ran_and_how_it_ended_is_in_outcome_event_and_record(odin, call):
    odin.script({"calls": [call("ExecuteCommand", command="echo seen; exit 3")]}, {"text": "done"})

    outcome = await odin.take("go", "edit_mode")

    [tool] = outcome.tools
    assert (tool.ran.command, tool.ran.exit_code, tool.ran.output) == ("echo seen; exit 3", 3, "seen\n")
    assert tool.ran.duration_ms > 0
    assert [it.ran for it in odin.of(ToolFinished)] == [tool.ran]
    assert odin.session.turns[-1].tool_history == outcome.tools


async def test_a_command_that_was_stopped_is_told_with_what_it_had_printed(odin, call):
    late = call("ExecuteCommand", command="echo seen; sleep 60", timeout=3000)
    odin.script({"calls": [late]}, {"text": "done"})

    [tool] = (await odin.take("go", "edit_mode")).tools

    assert (tool.status, tool.description, tool.ran.exit_code) == ("error", "timed out after 3 s", -15)
    assert (tool.ran.command, tool.ran.output) == ("echo seen; sleep 60", "seen\n")


async def test_a_command_is_in_the_transcript_with_its_last_lines_and_in_an_export_with_all(odin, call):
    odin.script({"calls": [call("ExecuteCommand", **HUSH)]}, {"text": "done"})
    await odin.take()

    read_along = transcript(odin.session)
    whole = {it: "".join(exported(odin.core.sessions.folder, odin.session.id, it)) for it in ("markdown", "html")}

    for text in (read_along, *whole.values()):
        assert re.search(r"ExecuteCommand: seq 30: exit code 0 after \d+\.\d s", text)
    printed = [line.strip() for line in read_along.splitlines() if line.strip().isdecimal()]
    assert printed == [str(it) for it in range(21, 31)]
    assert LINES in whole["html"]


async def test_a_command_that_the_user_cancelled_is_named_all_the_same(odin, call):
    odin.script({"calls": [call("ExecuteCommand", command="sleep 60", description="wait")]})
    turn = odin.turns.start(odin.message("go", "edit_mode"))
    odin.core.stream.subscribe(lambda record: record.event.kind == "toolStarted" and odin.core.cancel(None))

    await turn.outcome()

    assert "ExecuteCommand (canceled): sleep 60: canceled by the user" in transcript(odin.session)


async def test_a_helper_reports_its_commands_with_the_end_of_what_they_printed(odin, call):
    helper = call("AgentTool", description="look", prompt="LOOK")
    odin.script(
        {"calls": [helper]},
        {"calls": [call("ExecuteCommand", **HUSH)], "when": {"contains": "LOOK"}},
        {"text": "seen", "when": {"contains": "LOOK"}},
        {"text": "done"},
    )

    await odin.take("go", "edit_mode")

    [result] = odin.session.messages[2].results
    report = result.content.partition("Commands run:\n")[2]
    assert re.match(r"- `seq 30`: exit code 0 after \d+\.\d s\n", report)
    assert report.splitlines()[-1].strip() == "30"
