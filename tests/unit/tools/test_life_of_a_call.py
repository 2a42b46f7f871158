"""One use of a tool: prepared, executed, finished, in this order; what cannot be prepared is not executed."""

from dataclasses import replace

import pytest

from odin_lsp.errors import ToolError
from odin_lsp.permissions.rules import Effect
from odin_lsp.tools.base import Params, Tool, ToolOutput


class NoteParams(Params):
    text: str


class Note(Tool[NoteParams]):
    """Note where one is."""

    name = "Note"
    effect = Effect.NONE
    params = NoteParams

    def __init__(self):
        self.been = []

    def describe(self, params):
        return "note"

    async def prepare(self, params, context):
        self.been.append("prepare")
        if not params.text:
            raise ToolError("there is nothing to note")

    async def execute(self, params, context):
        self.been.append("execute")
        return ToolOutput(data=f"{params.text} in {context.session_id}", description="noted")

    async def finish(self, output, context):
        self.been.append("finish")
        return replace(output, data=f"{output.data}, {context.files.roots[0].name}")


async def test_a_tool_is_prepared_executed_and_finished_and_knows_session_and_workspace(context):
    tool = Note()

    output = await tool.run(tool.parse({"text": "x"}), context)

    assert tool.been == ["prepare", "execute", "finish"]
    assert (output.data, output.description) == ("x in s, ws", "noted")


async def test_what_cannot_be_prepared_is_not_executed(context):
    tool = Note()

    with pytest.raises(ToolError, match="nothing to note"):
        await tool.run(tool.parse({"text": ""}), context)

    assert tool.been == ["prepare"]
