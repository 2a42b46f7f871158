"""What agents of others have done: how they are called, and what becomes of their calls."""

import asyncio

import pytest

from odin_lsp.agent.agent_calls import message_of, name_of, result_of
from tests.support.papers import paper
from tests.support.reviewing import ScriptedEditor


@pytest.mark.parametrize(
    ("agent", "name"),
    [("claude-code", "claude-code"), ("Claude Code (beta)", "Claude-Code-beta"), ("…", "agent"), ("a" * 99, "a" * 60)],
)
def test_the_name_of_an_agent_is_short_and_without_blanks(agent, name):
    assert name_of(agent) == name


async def test_what_waits_for_a_review_is_not_wanted_any_more_if_the_agent_gives_up(odin):
    is_shown = asyncio.Event()
    odin.person = ScriptedEditor(None, lambda _: None, meanwhile=is_shown.set)
    odin.person.files = odin.start().files
    message = message_of("claude-code", "WriteFile", {"file_path": "new.py", "content": "x\n"})
    call = asyncio.create_task(result_of(odin.live, message))
    async with asyncio.timeout(10):
        await is_shown.wait()

    call.cancel()
    await asyncio.wait([call])

    assert call.cancelled()
    assert not odin.core.desk.is_waiting(message.turn_id)


async def test_an_agent_gets_the_text_of_a_pdf_whatever_odins_own_model_reads(odin):
    odin.settings["model"] = "anthropic/claude-opus-5-5"
    (odin.root / "paper.pdf").write_bytes(paper("one"))

    result = await result_of(odin.live, message_of("claude-code", "Read", {"file_path": "paper.pdf"}))

    assert (result.content, result.attached) == ("Page 1:\none", ())
