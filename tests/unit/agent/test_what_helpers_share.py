"""What a helper has of its turn, and what is its own."""

import pytest

from odin_lsp.messages import Message, Text, ToolCall
from odin_lsp.models.base import Reply


@pytest.fixture
def asked(odin):
    """A model that gives a task to a helper; all that it and the helper are asked, by who they are."""
    requests = {"main": [], "helper": []}
    read = ToolCall("r", "Read", {"file_path": str(odin.root / "greet.py")})
    todos = ToolCall("t", "TodoWrite", {"todos": [{"id": "1", "content": "helper's own", "status": "completed"}]})
    task = ToolCall("a", "AgentTool", {"description": "look", "prompt": "look around"})
    replies = {"main": [calls(task), says("done")], "helper": [calls(read, todos), says("seen")]}

    class Model:
        ref = "scripted/model"

        async def stream(self, request):
            who = "main" if "AgentTool" in {tool.name for tool in request.tools} else "helper"
            requests[who].append(request)
            yield replies[who].pop(0)

        async def aclose(self):
            pass

    odin.settings["titles"] = False
    odin.start().models.get = lambda ref: Model()
    return requests


def says(text):
    return Reply(Message("assistant", (Text(text),)), "end")


def calls(*made):
    return Reply(Message("assistant", made), "tools")


async def test_a_helper_has_the_files_and_the_instructions_of_its_turn_and_its_own_conversation(odin, asked):
    (odin.root / "ODIN.md").write_text("Use tabs.")

    outcome = await odin.take("the user's own words")

    [first, last] = asked["helper"]
    assert "Use tabs." in str(first.system)
    assert [message.role for message in first.messages] == ["user"]
    assert "the user's own words" not in str(last.messages)
    assert odin.root / "greet.py" in odin.core.files.cache
    assert outcome.todos == ()
    assert "helper's own" not in str(odin.session.messages)
