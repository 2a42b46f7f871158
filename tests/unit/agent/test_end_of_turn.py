"""What the end of a turn waits for, and what of it the model learns."""

import asyncio

from odin_lsp.events import ToolFinished
from odin_lsp.messages import Message, Text, ToolCall
from odin_lsp.models.base import Reply
from odin_lsp.workspace.text import Change, Position
from tests.support.reviewing import ScriptedEditor


class Formatting(ScriptedEditor):
    """Puts a comment on top when it saves."""

    async def save(self, uris):
        for uri in uris:
            change = Change("# formatted\n", Position(0, 0), Position(0, 0))
            self.files.buffers.change(uri, self.files.buffers.of_uri(uri).version + 1, [change])
        return await super().save(uris)


async def test_the_model_learns_what_a_formatter_made_of_its_edits(odin, call):
    path = odin.root / "greet.py"
    odin.person = Formatting(None)
    core = odin.start()
    odin.person.files = core.files
    core.files.buffers.open(path.as_uri(), 1, path.read_text())
    odin.script(
        {"calls": [call("Read", file_path=str(path))]},
        {"calls": [call("EditTool", file_path=str(path), old_string="hello", new_string="hi")]},
        {"text": "done"},
    )

    outcome = await odin.take("say hi", "edit_mode")

    assert outcome.answer == "done"
    assert path.read_text() == "# formatted\ndef greet(name):\n    return f'hi {name}'\n"
    told = core.sessions.current.session.messages[-1].text
    assert "the editor's formatter changed it" in told
    assert "# formatted" in told


async def test_an_edit_that_waits_for_its_review_has_not_ended_when_odin_ends(odin, call):
    is_shown = asyncio.Event()
    odin.person = ScriptedEditor(None, lambda _: None, meanwhile=is_shown.set)
    odin.person.files = odin.start().files
    odin.script({"calls": [call("WriteFile", file_path="new.py", content="x\n")]})
    turn = odin.turns.start(odin.message("write it", "edit_mode"))
    async with asyncio.timeout(10):
        await is_shown.wait()

    odin.core.abort()
    await turn.outcome()

    assert odin.of(ToolFinished) == []


async def test_a_cancelled_turn_waits_until_its_helpers_have_ended(odin):
    ended = []
    task = ToolCall("1", "AgentTool", {"description": "look", "prompt": "look around"})

    class Slow:
        ref = "scripted/slow"

        async def stream(self, request):
            if "AgentTool" in {tool.name for tool in request.tools}:
                yield Reply(Message("assistant", (task,)), "tools")
                return
            core.cancel(None)
            try:
                await asyncio.Event().wait()
            finally:
                for _ in range(100):
                    await asyncio.sleep(0)
                ended.append("helper")
            yield Reply(Message("assistant", (Text("never"),)), "end")

        async def aclose(self):
            pass

    core = odin.start()
    core.models.get = lambda ref: Slow()

    async with asyncio.timeout(10):
        outcome = await odin.take("go")

    assert outcome.reason == "interrupted"
    assert ended == ["helper"]
