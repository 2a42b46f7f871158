"""How an agent of others has something done, wherever the person is."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from odin_lsp.agent_door.attached import Attached, attached
from odin_lsp.agent_door.eliciting import Ask
from odin_lsp.errors import OdinError, RequestError
from odin_lsp.host.connection import Lost
from odin_lsp.messages import ToolResult

NOT_TAKEN = "The Odin that has {folder} open does not take this call: {why}. Ask the user to restart it."
LOST = (
    "The Odin that had {folder} open has ended. What the user has not decided on still waits for them. Read the file"
    " before you go on."
)


@asynccontextmanager
async def agent_calls(
    folder: Path, *, agent: str, ask: Ask | None = None, conversation: str = ""
) -> AsyncGenerator["AgentCalls"]:
    """`agent`: its name, which stands beside what it proposes. `ask`: how it can ask its user (MCP's elicitation), for
    where nobody else can be asked. `conversation`: its own name for what it is at; calls of the same one may edit what
    others of it have read."""
    calls = AgentCalls(folder.resolve(), agent, ask, conversation)
    try:
        yield calls
    finally:
        await calls.close()


class _Way(Protocol):
    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult: ...

    async def close(self) -> None: ...


class AgentCalls:
    def __init__(self, folder: Path, agent: str, ask: Ask | None, conversation: str) -> None:
        self._folder = folder
        self._agent = agent
        self._ask = ask
        self._conversation = conversation
        self._way: _Way | None = None
        self._one_at_a_time = asyncio.Lock()

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        """What the agent is told. `RequestError`: there is no such tool. To cancel it gives up the call: what of it
        waits for a review is not wanted any more."""
        async with self._one_at_a_time:
            try:
                way = self._way = await self._found()
                return await way.call(tool, arguments)
            except RequestError:
                raise
            except Lost:
                return _failed(tool, LOST.format(folder=self._folder))
            except OdinError as error:
                return _failed(tool, NOT_TAKEN.format(folder=self._folder, why=error))

    async def close(self) -> None:
        if self._way is not None:
            await self._way.close()

    async def _found(self) -> _Way:
        """An Odin that has the folder open, also if it was opened since; else one of its own."""
        if isinstance(self._way, Attached) and not self._way.is_lost:
            return self._way
        host = await attached(self._folder, self._agent, self._ask, self._conversation)
        if host is None and self._way is not None and not isinstance(self._way, Attached):
            return self._way
        if self._way is not None:
            with suppress(OdinError):
                await self._way.close()
            self._way = None
        if host is not None:
            return host
        own = await asyncio.to_thread(import_module, "odin_lsp.agent_door.own")
        return own.OwnWorkspace(await asyncio.to_thread(own.project_of, self._folder), self._agent, self._ask)


def _failed(tool: str, why: str) -> ToolResult:
    return ToolResult("", tool, why, failed=True)
