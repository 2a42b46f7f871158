"""Agents that use Odin as their IDE, as their programs do it: they look for its file, connect, and call its tools."""

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCNotification, JSONRPCRequest
from websockets.asyncio.client import ClientConnection, connect

from odin_lsp.agent.core import Core
from odin_lsp.ide.desk import Desk
from odin_lsp.ide.doors import Doors
from odin_lsp.ide.sight import Sight
from odin_lsp.intelligence.servers import NoServers, Servers
from odin_lsp.project.project import Project, Told
from odin_lsp.workspace.buffers import Buffers
from odin_lsp.workspace.cache import FileCache
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.text import Change
from tests.support.reviewing import ScriptedEditor
from tests.support.trusting import agree_to_all

PATIENCE = 30
HEADER = "X-Claude-Code-Ide-Authorization"


async def found(folder: Path, pattern: str) -> tuple[Path, dict[str, Any]]:
    """The file of an Odin, once there is one."""
    async with asyncio.timeout(PATIENCE):
        while not (files := sorted(folder.glob(pattern))):
            await asyncio.sleep(0.02)
    return files[0], json.loads(files[0].read_text())


class ClaudeCode:
    """Its side of the WebSocket."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.told: list[dict[str, Any]] = []
        self._ids = itertools.count(1)
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._heard = asyncio.Event()

    async def listen(self) -> None:
        async for text in self.socket:
            message = json.loads(text)
            if answer := self._answers.pop(message.get("id"), None):
                answer.set_result(message)
            else:
                self.told.append(message)
                self._heard.set()

    async def ask(self, method: str, **params: Any) -> Any:
        message = await (await self.begin(method, **params))
        return message.get("result", message.get("error"))

    async def begin(self, method: str, **params: Any) -> "asyncio.Future[Any]":
        number = next(self._ids)
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        await self.socket.send(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}))
        return answer

    async def call(self, name: str, **arguments: Any) -> list[str]:
        result = await self.ask("tools/call", name=name, arguments=arguments)
        return [it["text"] for it in result["content"]]

    async def value(self, name: str, **arguments: Any) -> Any:
        [text] = await self.call(name, **arguments)
        return json.loads(text)

    async def change(self, path: Path, text: str, tab: str = "tab") -> list[str]:
        """As it does for an edit: what comes back is written."""
        answer = await self.diff(path, text, tab)
        if answer[0] == "FILE_SAVED":
            path.write_bytes(answer[1].encode())
        await self.call("close_tab", tab_name=tab)
        return answer

    async def diff(self, path: Path, text: str, tab: str = "tab") -> list[str]:
        names = {"old_file_path": str(path), "new_file_path": str(path)}
        return await self.call("openDiff", **names, new_file_contents=text, tab_name=tab)

    async def until_told(self, method: str) -> Any:
        async with asyncio.timeout(PATIENCE):
            while not (told := [it["params"] for it in self.told if it.get("method") == method]):
                self._heard.clear()
                await self._heard.wait()
        return told[-1]


@asynccontextmanager
async def claude(folder: Path) -> AsyncIterator[ClaudeCode]:
    """Connected to the Odin whose lock file is there."""
    lock, said = await found(folder, "*.lock")
    headers = {HEADER: said["authToken"]}
    async with connect(f"ws://127.0.0.1:{lock.stem}", additional_headers=headers, subprotocols=["mcp"]) as socket:
        code = ClaudeCode(socket)
        listening = asyncio.create_task(code.listen())
        try:
            await code.ask("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={"name": "claude"})
            await socket.send(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}))
            yield code
        finally:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)


class GeminiCli:
    """Its side, behind the official SDK's transport."""

    def __init__(self, write: Any) -> None:
        self.told: list[tuple[str, Any]] = []
        self._write = write
        self._ids = itertools.count(1)
        self._answers: dict[Any, asyncio.Future[Any]] = {}
        self._heard = asyncio.Event()

    async def listen(self, read: Any) -> None:
        async for item in read:
            message = item.message.model_dump(by_alias=True)
            if answer := self._answers.pop(message.get("id"), None):
                answer.set_result(message)
            else:
                self.told.append((message["method"], message["params"]))
                self._heard.set()

    async def ask(self, method: str, **params: Any) -> Any:
        number = next(self._ids)
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        await self.send(JSONRPCRequest(jsonrpc="2.0", id=number, method=method, params=params))
        async with asyncio.timeout(PATIENCE):
            message = await answer
        return message.get("result") or message.get("error")

    async def call(self, name: str, **arguments: Any) -> list[str]:
        result = await self.ask("tools/call", name=name, arguments=arguments)
        return [it["text"] for it in result["content"]]

    async def send(self, message: Any) -> None:
        await self._write.send(SessionMessage(message))

    async def until_told(self, method: str, condition: Callable[[Any], bool] = lambda _: True) -> Any:
        async with asyncio.timeout(PATIENCE):
            while not (told := [it for name, it in self.told if name == method and condition(it)]):
                self._heard.clear()
                await self._heard.wait()
        return told[-1]


@asynccontextmanager
async def gemini(folder: Path) -> AsyncIterator[GeminiCli]:
    """Connected to the Odin whose file is there."""
    _, said = await found(folder, "gemini-ide-server-*.json")
    url, headers = f"http://127.0.0.1:{said['port']}/mcp", {"Authorization": f"Bearer {said['authToken']}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=PATIENCE) as client,
        streamable_http_client(url, http_client=client) as (read, write, *_),
    ):
        cli = GeminiCli(write)
        listening = asyncio.create_task(cli.listen(read))
        try:
            await cli.ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "gemini"})
            await cli.send(JSONRPCNotification(jsonrpc="2.0", method="notifications/initialized"))
            yield cli
        finally:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)


class Window(ScriptedEditor):
    """An editor, in which a person decides."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.shown: list[tuple[str, int | None]] = []
        self.notices: list[str] = []
        self.saved: list[str] = []

    async def open_document(self, uri: str, line: int | None = None) -> bool:
        self.shown.append((uri, line))
        return True

    async def save(self, uris: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
        self.saved += uris
        return await super().save(uris)

    def notify(self, level: str, message: str) -> None:
        self.notices.append(message)


class World:
    """Odin beside an editor, without a process of its own."""

    def __init__(self, root: Path, settings: Mapping[str, Any], *, trusted: bool | None, servers: Servers) -> None:
        self.root = root
        self.buffers = Buffers()
        self.editor = Window(Files([root], self.buffers, FileCache()))
        self.project = Project(Told(roots=(root,), flags=settings, trusted=None if trusted else trusted))
        if trusted:
            agree_to_all(self.project)
        self.core = Core(self.project, self.editor, buffers=self.buffers, servers=lambda _: servers)
        self.watched: list[bool] = []
        self.sight = Sight(self.buffers, self.watched.append)
        self.doors = Doors(self.project, lambda: Desk(self.core, self.editor, self.sight, "Odin (test)"))

    def open(self, path: Path, text: str | None = None) -> str:
        self.buffers.open(path.as_uri(), 1, path.read_bytes().decode() if text is None else text)
        return path.as_uri()

    def text(self, path: Path) -> str:
        buffer = self.buffers.of_path(path)
        assert buffer is not None
        return buffer.text

    def types(self, path: Path, text: str) -> None:
        buffer = self.buffers.of_path(path)
        assert buffer is not None
        self.buffers.change(buffer.uri, buffer.version + 1, [Change(text)])


@asynccontextmanager
async def world(
    root: Path, *agents: str, trusted: bool | None = True, servers: Servers | None = None, **settings: Any
) -> AsyncIterator[World]:
    """With its doors open for these agents."""
    made = World(root, {"ide": list(agents), **settings}, trusted=trusted, servers=servers or NoServers())
    running = asyncio.create_task(made.doors.run())
    try:
        yield made
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await made.core.close()
