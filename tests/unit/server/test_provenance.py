"""What a hover says of a line, by what the editor can show and what is still known."""

from dataclasses import replace
from urllib.parse import unquote

from odin_lsp.agent.authorship import TurnStory, WrittenRange
from odin_lsp.ports import Position, Range
from odin_lsp.server.client import Abilities
from odin_lsp.server.provenance import MAX_SAID, shown

WRITTEN = WrittenRange(
    range=Range(Position(0, 0), Position(1, 0)),
    turn_id="t",
    session_id="s",
    hunk_id="h",
    model="anthropic/opus",
    origin="odin",
    at=0.0,
    state="accepted",
)
STORY = TurnStory("turn the sign", "anthropic/opus", 0.0123)
LINKING = Abilities(markdown_hovers=True, links=True)


def paragraphs(written=WRITTEN, story=STORY, abilities=LINKING):
    return shown(written, story, abilities).value.split("\n\n")


def test_it_has_the_request_the_model_the_cost_and_links():
    first, said, about, links = paragraphs()

    assert first == "**Odin** wrote this line · accepted"
    assert said == "> turn the sign"
    assert about.endswith(" · anthropic/opus · turn cost $0.0123")
    assert unquote(links) == (
        '[Open Session](command:odin.provenance.open?[{"sessionId": "s", "turnId": "t"}])'
        ' · [Undo Change](command:odin.undoTurn?[{"turnId": "t", "hunkIds": ["h"]}])'
    )


def test_an_editor_without_markdown_or_links_gets_neither():
    assert not any("command:" in it for it in paragraphs(abilities=Abilities(markdown_hovers=True)))
    assert paragraphs(abilities=Abilities(links=True))[:2] == ["Odin wrote this line · accepted", "“turn the sign”"]


def test_of_a_session_that_is_gone_it_says_what_is_known_and_the_change_can_still_be_undone():
    first, _, links = paragraphs(replace(WRITTEN, model=None, state="modified"), TurnStory())

    assert first.endswith("changed by you")
    assert "provenance.open" not in links
    assert "odin.undoTurn" in links


def test_what_the_user_said_is_short_and_runs_nothing():
    hostile = "\n# [run](command:odin.undoTurn) <b>it</b>" + "x" * 2 * MAX_SAID
    said = paragraphs(story=replace(STORY, said=hostile))[1]

    assert "](command:" not in said
    assert "<b>" not in said.replace("\\<b>", "")
    assert len(said) < MAX_SAID + 50


def test_an_agent_of_others_stands_there_by_its_name():
    story = TurnStory("claude-code: EditTool", "agent/claude-code", 0.0)
    first, said, about, _ = paragraphs(replace(WRITTEN, origin=story.origin, model=story.model), story)

    assert first == "**claude-code** wrote this line · accepted"
    assert said == "> claude-code: EditTool"
    assert "·" not in about
