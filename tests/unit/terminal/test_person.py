import asyncio
import os

import pytest

from odin_lsp.terminal import person


@pytest.fixture
def typing(monkeypatch):
    """Types at the terminal; nothing more comes when it is closed."""
    reading, writing = os.pipe()
    with os.fdopen(reading) as terminal, os.fdopen(writing, "w", buffering=1) as hand:
        monkeypatch.setattr("sys.stdin", terminal)
        yield hand


async def test_a_line_is_waited_for(typing, capsys):
    waiting = asyncio.create_task(person.line("Accept?"))
    await asyncio.sleep(0)
    assert not waiting.done()
    typing.write("y \n")

    assert await waiting == "y"
    assert capsys.readouterr().err == "Accept? "


async def test_at_the_end_there_is_no_line(typing):
    typing.close()
    assert await person.line("Accept?") is None


async def test_nobody_has_to_type_for_a_question_to_be_withdrawn(typing):
    waiting = asyncio.create_task(person.line("Accept?"))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.wait([waiting])
    typing.write("for the next one\n")

    assert await person.line("What?") == "for the next one"
