"""The server's side of MCP, as today's agents speak it: a handshake, a list of tools, and their calls."""

import asyncio
import re
import uuid
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from odin_lsp import __version__
from odin_lsp.frames import Frame
from odin_lsp.json_rpc import INVALID_PARAMS, INVALID_REQUEST, Peer, Refused
from odin_lsp.messages import Image, ToolCall, ToolResult
from odin_lsp.values import is_object

if TYPE_CHECKING:
    from odin_lsp.library import Session, Tool, Workspace
    from odin_lsp.mcp_door.relay import Relay

VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""The newest first."""
READING = ("Read", "Grep", "Glob", "LS", "Lookup")
EDITING = ("EditTool", "MultiEditTool", "WriteFile", "MoveFile", "DeleteFile", "ReplaceInFiles", "Refactor")
INSTRUCTIONS = (
    "The user reviews each change. Edit, create, move and delete files only with these tools, never with other edit"
    " tools or a shell. Read a file with Read before you edit it. The result of an edit says which parts the user has"
    " accepted or rejected, and why. Do not make a rejected change again."
)
SETTINGS = {"review": {"policy": "each"}}
"""What others propose is reviewed, whatever the user's policy for Odin's own edits is."""
_NAME = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class _Opened:
    """The workspace, from the first call on."""

    workspace: "Workspace"
    session: "Session"
    relay: "Relay"


class Server:
    def __init__(self, folder: Path, send: Callable[[bytes], None]) -> None:
        self._folder = folder
        self._agent = "agent"
        """Its name, as it says."""
        self._can_ask: bool | None = None
        """Whether it can ask its user; none: it has not said hello yet."""
        self._opened: _Opened | None = None
        self._open = AsyncExitStack()
        self._one_at_a_time = asyncio.Lock()
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
            self._agent = _NAME.sub("-", about["name"])[:60].strip("-") or self._agent
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
        """In a fixed order, so that agents can cache it."""
        return {
            "tools": [
                {
                    "name": it.name,
                    "description": it.description,
                    "inputSchema": it.schema,
                    "annotations": {"readOnlyHint": it.name in READING, "openWorldHint": False},
                }
                for it in _tools()
            ]
        }

    async def _call(self, params: Any) -> Any:
        match params:
            case {"name": str(name)} if name in (*READING, *EDITING):
                arguments: object = params.get("arguments") or {}
            case _:
                raise Refused(INVALID_PARAMS, f"there is no such tool; there are {', '.join((*READING, *EDITING))}")
        if not is_object(arguments):
            raise Refused(INVALID_PARAMS, "`arguments` must be an object")
        if self._can_ask is None:
            raise Refused(INVALID_REQUEST, "`initialize` comes first")
        async with self._one_at_a_time:
            return await self._made(await self._workspace(), ToolCall(uuid.uuid4().hex, name, arguments))

    async def _made(self, opened: _Opened, call: ToolCall) -> Any:
        """A turn for each call: so it passes the rules, the review and the notes for undo like any other."""
        relay, begin = opened.relay, opened.session.ask if call.name in READING else opened.session.edit
        relay.call, relay.result = call, None
        turn = begin(f"{self._agent}: {call.name}")
        try:
            outcome = await turn.outcome()
        except asyncio.CancelledError:  # the agent gave up the call: the turn comes to its end before the next
            turn.cancel()
            await turn.outcome()
            raise
        finally:
            relay.call = None
        if relay.result is None:
            return {"content": [_text(outcome.detail or "Odin could not make the call")], "isError": True}
        return _answer(relay.result)

    async def _workspace(self) -> _Opened:
        from odin_lsp.library import Workspace
        from odin_lsp.mcp_door.editor import ElicitingEditor
        from odin_lsp.mcp_door.relay import Relay

        if self._opened is None:
            editor, relay = ElicitingEditor(self._peer.ask, can_ask=bool(self._can_ask)), Relay(self._agent)
            workspace = await self._open.enter_async_context(
                Workspace(self._folder, model=relay, tools=_tools(), editor=editor, settings=SETTINGS, extensions=False)
            )
            editor.decide = workspace.decide
            self._opened = _Opened(workspace, workspace.begin(self._agent), relay)
        return self._opened


def _tools() -> "list[Tool[Any]]":
    from odin_lsp.library import builtin_tools

    return [it for it in builtin_tools() if it.name in (*READING, *EDITING)]


def _answer(result: ToolResult) -> Mapping[str, Any]:
    images = [it for it in result.attached if isinstance(it, Image)]
    shown = [{"type": "image", "data": it.data, "mimeType": it.media_type} for it in images]
    return {"content": [_text(result.content), *shown], "isError": result.failed}


def _text(text: str) -> Mapping[str, Any]:
    return {"type": "text", "text": text}
