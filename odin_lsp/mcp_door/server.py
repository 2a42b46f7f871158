"""The server's side of MCP, as today's agents speak it: a handshake, a list of tools, and their calls."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from odin_lsp import __version__
from odin_lsp.agent_door.calls import AgentCalls, agent_calls
from odin_lsp.frames import Frame
from odin_lsp.json_rpc import INVALID_PARAMS, INVALID_REQUEST, Peer, Refused
from odin_lsp.messages import Image, ToolResult
from odin_lsp.values import is_object

VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""The newest first."""
INSTRUCTIONS = (
    "The user reviews each change. Edit, create, move and delete files only with these tools, never with other edit"
    " tools or a shell. Read a file with Read before you edit it. The result of an edit says which parts the user has"
    " accepted or rejected, and why. Do not make a rejected change again."
)


class Server:
    def __init__(self, folder: Path, send: Callable[[bytes], None]) -> None:
        self._folder = folder
        self._agent = "agent"
        """Its name, as it says."""
        self._can_ask: bool | None = None
        """Whether it can ask its user; none: it has not said hello yet."""
        self._calls: AgentCalls | None = None
        """From the first one on."""
        self._open = AsyncExitStack()
        self._peer = Peer(
            send,
            {
                "initialize": self._initialize,
                "ping": self._ping,
                "tools/list": self._list,
                "tools/call": self._call,
            },
            {},
            "notifications/cancelled",
        )

    def receive(self, line: Frame) -> None:
        self._peer.receive(line)

    async def close(self) -> None:
        await self._peer.close()
        await self._open.aclose()

    async def _initialize(self, params: Any) -> Any:
        given: Mapping[str, Any] = params if is_object(params) else {}
        capabilities, about = given.get("capabilities"), given.get("clientInfo")
        self._can_ask = is_object(capabilities) and capabilities.get("elicitation") is not None
        if is_object(about) and isinstance(about.get("name"), str):
            self._agent = about["name"]
        version = given.get("protocolVersion")
        return {
            "protocolVersion": version if version in VERSIONS else VERSIONS[0],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "odin", "title": "Odin", "version": __version__},
            "instructions": INSTRUCTIONS,
        }

    async def _ping(self, _: Any) -> Any:
        return {}

    async def _list(self, _: Any) -> Any:
        return {"tools": await asyncio.to_thread(_tools)}

    async def _call(self, params: Any) -> Any:
        match params:
            case {"name": str(name)}:
                arguments: object = params.get("arguments") or {}
            case _:
                raise Refused(INVALID_PARAMS, "`name` is missing: which tool?")
        if not is_object(arguments):
            raise Refused(INVALID_PARAMS, "`arguments` must be an object")
        if self._can_ask is None:
            raise Refused(INVALID_REQUEST, "`initialize` comes first")
        if self._calls is None:
            ask = self._peer.ask if self._can_ask else None
            self._calls = await self._open.enter_async_context(agent_calls(self._folder, agent=self._agent, ask=ask))
        return _answer(await self._calls.call(name, arguments))


def _tools() -> list[Mapping[str, Any]]:
    """In a fixed order, so that agents can cache it. In a thread: all tools are imported, and their schemas built."""
    from odin_lsp.agent.agent_calls import EDITING, READING
    from odin_lsp.tools.base import all_tools

    return [
        {
            "name": it.name,
            "description": it.description,
            "inputSchema": it.schema,
            "annotations": {"readOnlyHint": it.name in READING, "openWorldHint": False},
        }
        for it in all_tools().values()
        if it.name in (*READING, *EDITING)
    ]


def _answer(result: ToolResult) -> Mapping[str, Any]:
    images = [it for it in result.attached if isinstance(it, Image)]
    shown = [{"type": "image", "data": it.data, "mimeType": it.media_type} for it in images]
    return {"content": [_text(result.content), *shown], "isError": result.failed}


def _text(text: str) -> Mapping[str, Any]:
    return {"type": "text", "text": text}
