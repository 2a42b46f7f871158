"""What a later turn has to send of a file that the conversation has already: what changed, and no more."""

import pytest

from odin_lsp.messages import ToolResult
from odin_lsp.terminal.editor import TerminalEditor

LINES = [f"def function_{number}(): return {number}\n" for number in range(1, 2001)]
PAGES = (1, 701, 1401)
"""Lines from which on as many are read as one result has room for."""


@pytest.fixture
def path(odin):
    path = odin.root / "long.py"
    path.write_text("".join(LINES))
    return path


def pages(call, path):
    return {"calls": [call("Read", file_path=str(path), offset=first, limit=700) for first in PAGES]}


def results(messages):
    return [part for message in messages for part in message.parts if isinstance(part, ToolResult)]


def size(messages):
    """Bytes of all that is said and told there."""
    texts = [getattr(part, "text", "") or getattr(part, "content", "") for it in messages for part in it.parts]
    return sum(len(text.encode()) for text in texts)


async def test_of_2000_lines_of_which_one_has_changed_a_second_turn_sends_one_and_may_edit_it(odin, call, path):
    odin.person = TerminalEditor("yes")
    again, edit = call("Read", file_path=str(path)), {"old_string": "changed()", "new_string": "mended()"}
    odin.script(
        pages(call, path),
        {"text": "read"},
        {"calls": [again]},
        {"calls": [call("EditTool", file_path=str(path), **edit)]},
        {"text": "done"},
    )
    await odin.take("read it")
    first = list(odin.session.messages)
    path.write_text("".join([*LINES[:999], "def changed(): ...\n", *LINES[1000:]]))

    await odin.take("and now?", "edit_mode")

    second = odin.session.messages[len(first) :]
    assert [it.failed for it in results(second)] == [False, False]
    assert "  1000\tdef changed(): ..." in results(second)[0].content
    assert size(first) > 70_000
    assert size(second) < 3_000
    assert path.read_text().splitlines()[999] == "def mended(): ..."


async def test_what_a_compaction_has_taken_out_is_sent_again(odin, call, path):
    odin.settings["limits"] = {"maxContext": 100_000}
    path.write_text("".join(LINES[:200]))
    odin.script(
        {"calls": [call("Read", file_path=str(path))]},
        *[{"text": "ok"}] * 2,
        {"calls": [call("Glob", pattern="*")], "usage": {"contextTokens": 95_000}},
        {"text": "the summary"},
        {"calls": [call("Read", file_path=str(path))]},
        {"text": "ok"},
    )
    for text in ("read", "word " * 4000, "read it again"):
        await odin.take(text)

    assert "the summary" in str(odin.session.messages)
    assert results(odin.session.messages)[-1].content.count("\n") == 199


async def test_what_the_user_has_removed_is_sent_again(odin, call, path):
    path.write_text("".join(LINES[:200]))
    again = {"calls": [call("Read", file_path=str(path))]}
    odin.script(again, {"text": "ok"}, again, {"text": "ok"})
    await odin.take("read")
    odin.live.turns.remove_last_message()
    odin.live.turns.remove_last_message()
    assert not results(odin.session.messages)

    await odin.take("again")

    assert results(odin.session.messages)[-1].content.count("\n") == 199
