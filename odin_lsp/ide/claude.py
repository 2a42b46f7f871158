"""Claude Code's side: a lock file by which it finds Odin, a WebSocket that it connects to, and tools that it calls."""

import asyncio
import hmac
import logging
import os
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any

from odin_lsp.frames import MAX_FRAME
from odin_lsp.ide.announcing import NAME, announced, remove_stale
from odin_lsp.ide.changes import Refused
from odin_lsp.ide.desk import Desk
from odin_lsp.ide.sight import Selected
from odin_lsp.ide.tools import Arguments, Content, Tool, as_text, methods, texts
from odin_lsp.json_rpc import Peer
from odin_lsp.ports import Option, Question
from odin_lsp.tasks import Tasks
from odin_lsp.workspace.text import Lines, Position

if TYPE_CHECKING:
    from websockets.asyncio.server import ServerConnection
    from websockets.http11 import Request, Response

log = logging.getLogger("odin.ide")
AGENT = "claude-code"
HEADER = "X-Claude-Code-Ide-Authorization"
VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
MOST_CONNECTIONS = 10
MOST_UNREAD = 1000
"""Messages that it has not taken yet; one with more does not read."""
NOTHING_SELECTED = {"success": False, "message": "No active editor found"}


async def serve(desk: Desk) -> None:
    """Until cancelled."""
    from websockets.asyncio.server import serve  # most never need it
    from websockets.typing import Subprotocol

    token, door = secrets.token_hex(32), _Door(desk)

    def check(connection: "ServerConnection", request: "Request") -> "Response | None":
        """Web pages cannot send the header with the token; those who say where they come from are none of ours."""
        given = ",".join(request.headers.get_all(HEADER))
        if not hmac.compare_digest(given.encode(), token.encode()):
            return connection.respond(
                HTTPStatus.UNAUTHORIZED, "the token is missing, or is not that of the lock file\n"
            )
        if request.path != "/":
            return connection.respond(HTTPStatus.NOT_FOUND, "there is nothing here\n")
        if len(door.connections) >= MOST_CONNECTIONS:
            return connection.respond(HTTPStatus.SERVICE_UNAVAILABLE, "too many agents are connected\n")
        return None

    server = await serve(
        door.receive,
        "127.0.0.1",
        0,
        origins=[None],
        subprotocols=[Subprotocol("mcp")],
        process_request=check,
        max_size=MAX_FRAME,
        server_header=None,
        logger=log,
    )
    async with server:
        [port] = {it.getsockname()[1] for it in server.sockets}
        folder = _folder()
        remove_stale(folder, "*.lock", _owner)
        with announced(folder / f"{port}.lock", _announcement(desk, token)):
            await asyncio.Event().wait()


def _folder() -> Path:
    return Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude", "ide")


def _announcement(desk: Desk, token: str) -> Mapping[str, Any]:
    return {
        "pid": os.getpid(),
        "workspaceFolders": [str(it) for it in desk.roots],
        "ideName": desk.title,
        "transport": "ws",
        "runningInWindows": False,
        "authToken": token,
    }


def _owner(_: Path, said: Mapping[str, Any]) -> int | None:
    pid = said.get("pid")
    is_ours = str(said.get("ideName", "")).startswith(NAME)
    return pid if is_ours and isinstance(pid, int) else None


class _Door:
    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self.connections: set[ClaudeCode] = set()

    async def receive(self, connection: "ServerConnection") -> None:
        from websockets.exceptions import ConnectionClosed

        outgoing: asyncio.Queue[bytes] = asyncio.Queue()
        tasks = Tasks()

        def send(message: bytes) -> None:
            outgoing.put_nowait(message)
            if outgoing.qsize() > MOST_UNREAD:
                tasks.begin(connection.close())

        claude = ClaudeCode(self._desk, send)
        self.connections.add(claude)

        async def send_all() -> None:
            with suppress(ConnectionClosed):
                while True:
                    await connection.send((await outgoing.get()).decode())

        tasks.begin(send_all())
        try:
            with suppress(ConnectionClosed), self._desk.sight.shared_with(claude):
                async for message in connection:
                    claude.peer.receive(message.encode() if isinstance(message, str) else message)
        finally:
            self.connections.discard(claude)
            await claude.close()
            await tasks.close()


class ClaudeCode:
    """One that is connected."""

    def __init__(self, desk: Desk, send: Callable[[bytes], None]) -> None:
        self._desk = desk
        self._changes = desk.changes(AGENT)
        self.peer = Peer(send, methods(self._tools(), VERSIONS), {}, "notifications/cancelled")
        self._told: Selected | None = None

    async def close(self) -> None:
        await self.peer.close()
        await self._changes.leave()

    def look(self) -> None:
        selected = self._selected
        if selected is not None and selected != self._told:
            self._told = selected
            self.peer.notify("selection_changed", _told(selected))

    def mention(self, path: Path, first: int, last: int) -> bool:
        self.peer.notify("at_mentioned", {"filePath": str(path), "lineStart": first, "lineEnd": last})
        return True

    def _tools(self) -> Mapping[str, Tool]:
        diff = ("old_file_path", "new_file_path", "new_file_contents", "tab_name")
        flags = dict.fromkeys(("preview", "selectToEndOfLine", "makeFrontmost"), "boolean")
        place = {"startText": "string", "endText": "string", **flags}
        return {
            "openDiff": Tool("Have a change reviewed", self._open_diff, diff),
            "close_tab": Tool("Close a diff of this agent", self._close_tab, ("tab_name",)),
            "closeAllDiffTabs": Tool("Close all diffs of this agent", self._close_all),
            "getDiagnostics": Tool("Problems that language servers know of", self._problems, (), {"uri": "string"}),
            "getOpenEditors": Tool("Documents that are open", self._open_editors),
            "getWorkspaceFolders": Tool("The folders of the workspace", self._folders),
            "getCurrentSelection": Tool("What is selected", self._selection),
            "getLatestSelection": Tool("What was selected last", self._selection),
            "checkDocumentDirty": Tool("Whether a document has unsaved changes", self._is_dirty, ("filePath",)),
            "saveDocument": Tool("Save a document, if the user agrees", self._save, ("filePath",)),
            "openFile": Tool("Show a file to the user", self._open_file, ("filePath",), place),
        }

    async def _open_diff(self, given: Arguments) -> Content:
        """It stays open until the user has decided."""
        name, key = given["new_file_path"], given["tab_name"]
        try:
            if given["old_file_path"] not in (name, ""):
                raise Refused(f"{AGENT} wanted to move {given['old_file_path']}; Odin shows changes of one file only")
            change = self._changes.begin(key, name, given["new_file_contents"])
        except Refused as error:
            self._desk.window.notify("warning", f"A change by {AGENT} was rejected: {error}")
            return texts("DIFF_REJECTED", key)
        if change is None:
            return texts("FILE_SAVED", given["new_file_contents"])
        try:
            text = await change.reviewed()
        except asyncio.CancelledError:
            self._changes.close(key)
            raise
        return texts("DIFF_REJECTED", key) if text is None else texts("FILE_SAVED", text)

    async def _close_tab(self, given: Arguments) -> Content:
        self._changes.close(given["tab_name"])
        return texts("TAB_CLOSED")

    async def _close_all(self, _: Arguments) -> Content:
        return texts(f"CLOSED_{self._changes.close_all()}_DIFF_TABS")

    async def _problems(self, given: Arguments) -> Content:
        uri = given.get("uri")
        return as_text(await self._desk.problems(uri if isinstance(uri, str) else None))

    async def _open_editors(self, _: Arguments) -> Content:
        tabs = [
            {
                "uri": it.path.as_uri(),
                "isActive": it.is_active,
                "label": it.path.name,
                "languageId": it.path.suffix.removeprefix("."),
                "isDirty": it.is_unsaved,
            }
            for it in self._desk.sight.documents(self._desk.core.files)
        ]
        return as_text({"tabs": tabs})

    async def _folders(self, _: Arguments) -> Content:
        roots = self._desk.roots
        folders = [{"name": it.name, "uri": it.as_uri(), "path": str(it)} for it in roots]
        return as_text({"success": True, "folders": folders, "rootPath": str(roots[0]) if roots else ""})

    async def _selection(self, _: Arguments) -> Content:
        selected = self._selected
        return as_text({"success": True, **_told(selected)} if selected else NOTHING_SELECTED)

    async def _is_dirty(self, given: Arguments) -> Content:
        path = self._desk.path(given["filePath"])
        buffer = self._desk.core.files.buffers.of_path(path)
        if buffer is None:
            return as_text({"success": False, "message": f"Document not open: {path}"})
        return as_text({"success": True, "filePath": str(path), "isDirty": buffer.unsaved, "isUntitled": False})

    async def _save(self, given: Arguments) -> Content:
        """What the person has typed is theirs to save."""
        path = self._desk.path(given["filePath"])
        buffer = self._desk.core.files.buffers.of_path(path)
        if buffer is None:
            return as_text({"success": False, "message": f"Document not open: {path}"})
        is_saved = not buffer.unsaved or await self._may_save(path)
        failed = await self._desk.window.save((buffer.uri,)) if is_saved and buffer.unsaved else ()
        told = {"success": True, "filePath": str(path), "saved": is_saved and not failed}
        return as_text({**told, "message": failed[0][1] if failed else "" if is_saved else "the user did not agree"})

    async def _may_save(self, path: Path) -> bool:
        name = self._desk.core.files.shown(path)
        question = Question(
            question_id=secrets.token_hex(16),
            kind="question",
            title=f"Save {name}?",
            detail=f"{AGENT} asks for it.",
            options=(Option("save", "Save"), Option("leave", "Leave unsaved")),
        )
        answer = await self._desk.core.asker.ask(question)
        return answer is not None and answer.option_ids == ("save",)

    async def _open_file(self, given: Arguments) -> Content:
        path, wanted = self._desk.path(given["filePath"]), given.get("startText")
        line = None
        if isinstance(wanted, str) and wanted:
            text = await self._desk.core.desk.applier.text_beside_loop(path) or ""
            at = text.find(wanted)
            line = Lines(text).position(at, "utf-16")[0] if at >= 0 else None
        is_shown = await self._desk.window.open_document(path.as_uri(), line)
        return texts(f"Opened file: {path}" if is_shown else f"The editor cannot show files: {path}")

    @property
    def _selected(self) -> Selected | None:
        return self._desk.sight.selected(self._desk.core.files)


def _told(selected: Selected) -> Mapping[str, Any]:
    return {
        "text": selected.text,
        "filePath": str(selected.path),
        "fileUrl": selected.path.as_uri(),
        "selection": {
            "start": _position(selected.start),
            "end": _position(selected.end),
            "isEmpty": selected.start == selected.end,
        },
    }


def _position(place: Position) -> Mapping[str, int]:
    return {"line": place.line, "character": place.character}
