"""Gemini CLI's side: a file by which it finds Odin, MCP over HTTP, and two tools: a diff is opened and closed."""

import asyncio
import hmac
import json
import os
import secrets
import socket
import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Any

from odin_lsp.ide import http
from odin_lsp.ide.announcing import NAME, announced, remove_stale
from odin_lsp.ide.changes import Change, Changes, Refused
from odin_lsp.ide.desk import Desk
from odin_lsp.ide.http import Request, Response
from odin_lsp.ide.tools import Arguments, Content, Tool, as_text, methods
from odin_lsp.json_rpc import Peer
from odin_lsp.tasks import Tasks

AGENT = "gemini-cli"
PATH = "/mcp"
SESSION = "mcp-session-id"
VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26")
MOST_SESSIONS = 10
MOST_FILES = 10
MOST_SELECTED = 16 * 1024
"""Characters; it keeps no more."""
KEEP_ALIVE = 30.0
"""Seconds after which a stream says that it is there."""


async def serve(desk: Desk) -> None:
    """Until cancelled."""
    token = secrets.token_hex(32)
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    door = _Door(desk, token, port)
    server = await asyncio.start_server(door.answer, sock=listener, limit=http.MAX_HEAD)
    folder = _folder()
    remove_stale(folder, "gemini-ide-server-*.json", _owner)
    try:
        with announced(folder / f"gemini-ide-server-{os.getpid()}-{port}.json", _announcement(desk, token, port)):
            await asyncio.Event().wait()
    finally:
        server.close()
        await door.close()


def _folder() -> Path:
    """Where Node has temporary files."""
    variables = (os.environ.get(it) for it in ("TMPDIR", "TMP", "TEMP"))
    return Path(next(filter(None, variables), tempfile.gettempdir()), "gemini", "ide")


def _announcement(desk: Desk, token: str, port: int) -> Mapping[str, Any]:
    return {
        "port": port,
        "workspacePath": os.pathsep.join(str(it) for it in desk.roots),
        "authToken": token,
        "ideInfo": {"name": "odin", "displayName": desk.title},
    }


def _owner(path: Path, said: Mapping[str, Any]) -> int | None:
    match path.stem.split("-"), said:
        case ["gemini", "ide", "server", pid, _], {"ideInfo": {"displayName": str(name)}} if name.startswith(NAME):
            return int(pid) if pid.isdecimal() else None
        case _:
            return None


class _Door:
    def __init__(self, desk: Desk, token: str, port: int) -> None:
        self._desk = desk
        self._token = f"Bearer {token}"
        self._hosts = (f"127.0.0.1:{port}", f"localhost:{port}")
        self._sessions: dict[str, GeminiCli] = {}
        self._answering = Tasks()

    def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._answering.begin(http.answer(reader, writer, self._check, self._handle))

    async def close(self) -> None:
        await self._answering.close()
        for it in tuple(self._sessions.values()):
            await it.close()

    def _check(self, request: Request) -> HTTPStatus:
        """Web pages cannot send the token; those who say where they come from are none of ours."""
        if "origin" in request.headers or request.headers.get("host") not in self._hosts:
            return HTTPStatus.FORBIDDEN
        if not hmac.compare_digest(request.headers.get("authorization", "").encode(), self._token.encode()):
            return HTTPStatus.UNAUTHORIZED
        if request.path != PATH:
            return HTTPStatus.NOT_FOUND
        return HTTPStatus.CONTINUE if request.method in ("POST", "GET", "DELETE") else HTTPStatus.METHOD_NOT_ALLOWED

    async def _handle(self, request: Request) -> Response:
        try:
            message: Any = json.loads(request.body) if request.method == "POST" else None
        except (ValueError, RecursionError):
            return Response(HTTPStatus.BAD_REQUEST)
        session_id = request.headers.get(SESSION, "")
        match message:
            case {"method": "initialize"}:
                session_id = await self._begin()
            case _ if session_id not in self._sessions:
                return Response(HTTPStatus.NOT_FOUND)
            case _:
                pass
        session = self._sessions[session_id]
        match request.method:
            case "DELETE":
                await self._sessions.pop(session_id).close()
                return Response(HTTPStatus.OK)
            case "GET":
                return Response(HTTPStatus.OK, headers={"Content-Type": "text/event-stream"}, stream=session.stream)
            case _:
                answer = await session.take(request.body, message)
                headers = {"Content-Type": "application/json", "Mcp-Session-Id": session_id}
                return Response(HTTPStatus.OK, answer, headers) if answer else Response(HTTPStatus.ACCEPTED)

    async def _begin(self) -> str:
        """Those that were left come to an end when there are too many."""
        if len(self._sessions) >= MOST_SESSIONS:
            await self._sessions.pop(next(iter(self._sessions))).close()
        session_id = secrets.token_hex(16)
        self._sessions[session_id] = GeminiCli(self._desk)
        return session_id


@contextmanager
def _closing(changes: Changes) -> Generator[None]:
    """If it hangs up, nobody waits for its diffs."""
    try:
        yield
    finally:
        changes.close_all()


class GeminiCli:
    """One that is connected."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._changes = desk.changes(AGENT)
        self._methods = methods(self._tools(), VERSIONS)
        self._outgoing: asyncio.Queue[bytes] = asyncio.Queue()
        self._notifier = Peer(self._outgoing.put_nowait, {}, {}, "")
        self._told: Mapping[str, Any] = {}
        self._telling = Tasks()

    async def take(self, body: bytes, message: object) -> bytes | None:
        """The answer to a request; nothing to what is none."""
        match message:
            case {"method": str(), "id": str() | int()}:
                answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
                peer = Peer(answer.set_result, self._methods, {}, "")
                peer.receive(body)
                try:
                    return await answer
                finally:
                    await peer.close()
            case _:
                return None

    async def stream(self, write: http.Write) -> None:
        """What it is told unasked."""
        self._told = {}
        self.look()
        with self._desk.sight.shared_with(self), _closing(self._changes):
            while True:
                try:
                    async with asyncio.timeout(KEEP_ALIVE):
                        message = await self._outgoing.get()
                    await write(b"event: message\ndata: " + message + b"\n\n")
                except TimeoutError:
                    await write(b":\n\n")

    def look(self) -> None:
        context = self._context()
        if context != self._told:
            self._told = context
            self._notifier.notify("ide/contextUpdate", context)

    def mention(self, path: Path, first: int, last: int) -> bool:
        """It knows no mentions."""
        return False

    async def close(self) -> None:
        await self._changes.leave()
        await self._telling.close()

    def _tools(self) -> Mapping[str, Tool]:
        closing = {"suppressNotification": "boolean"}
        return {
            "openDiff": Tool("Have a change reviewed", self._open_diff, ("filePath", "newContent")),
            "closeDiff": Tool("Close a diff", self._close_diff, ("filePath",), closing),
        }

    async def _open_diff(self, given: Arguments) -> Content:
        """What the user has decided is told later."""
        name = given["filePath"]
        try:
            change = self._changes.begin(name, name, given["newContent"])
        except Refused as error:
            self._desk.window.notify("warning", f"A change by {AGENT} was rejected: {error}")
            self._reject(name)
            return []
        if change is None:
            self._accept(name, given["newContent"])
        else:
            self._telling.begin(self._tell(name, change))
        return []

    async def _close_diff(self, given: Arguments) -> Content:
        """It is decided in the agent's own window: it writes what is not rejected here."""
        name = given["filePath"]
        text = self._changes.close(name)
        if text is not None and given.get("suppressNotification") is not True:
            self._reject(name)
        return as_text({"content": text})

    async def _tell(self, name: str, change: Change) -> None:
        text = await change.reviewed()
        if change.is_closed:
            return
        if text is None:
            self._reject(name)
        else:
            self._accept(name, text)

    def _accept(self, name: str, text: str) -> None:
        self._notifier.notify("ide/diffAccepted", {"filePath": name, "content": text})

    def _reject(self, name: str) -> None:
        self._notifier.notify("ide/diffRejected", {"filePath": name})

    def _context(self) -> Mapping[str, Any]:
        files = self._desk.core.files
        selected = self._desk.sight.selected(files)
        shown: list[dict[str, Any]] = []
        for it in self._desk.sight.documents(files)[:MOST_FILES]:
            about: dict[str, Any] = {"path": str(it.path), "timestamp": round(it.seen_at * 1000)}
            if it.is_active and selected is not None:
                about |= {
                    "isActive": True,
                    "cursor": {"line": selected.end.line + 1, "character": selected.end.character + 1},
                    "selectedText": selected.text[:MOST_SELECTED],
                }
            shown.append(about)
        return {"workspaceState": {"openFiles": shown, "isTrusted": True}}
