"""A model that says what another agent says: each call of that agent is a turn, with all that belongs to one."""

from collections.abc import AsyncIterator

from odin_lsp.errors import ModelError
from odin_lsp.library import Message, Reply, Request
from odin_lsp.messages import Text, ToolCall, ToolResult


class Relay:
    def __init__(self, agent: str) -> None:
        self.ref = f"agent/{agent}"
        self.call: ToolCall | None = None
        """What the agent wants; one thing at a time."""
        self.result: ToolResult | None = None
        """What came of it."""

    async def stream(self, request: Request) -> AsyncIterator[Reply]:
        if not request.tools:
            raise ModelError("no model of Odin's own is asked for an agent of others")
        call = self.call
        told = [it for message in request.messages for it in message.results if call and it.call_id == call.id]
        self.result = told[-1] if told else None
        if call is None or self.result is not None:
            yield Reply(Message("assistant", (Text("(answered)"),), self.ref), "end")
        else:
            yield Reply(Message("assistant", (call,), self.ref), "tools")

    async def aclose(self) -> None:
        """Nothing is open."""
