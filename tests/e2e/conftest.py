"""A real server process behind a pytest-lsp client, and a provider on loopback that plays Anthropic's wire format."""

import asyncio
import inspect
import json
import os
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pytest_lsp import ClientServerConfig, LanguageClient

from odin_lsp.workspace.text import Change, Lines, Position
from odin_lsp.workspace.uris import path_of
from tests.e2e.steps import play_calls
from tests.support.forking import forked
from tests.support.held_loop import (  # noqa: F401 - hooks
    pytest_runtest_protocol,
    pytest_runtest_setup,
    pytest_runtest_teardown,
)
from tests.support.trusting import trust_folder
from tests.support.wire import KEY, Wire, serving

PATIENCE = 60
"""Seconds: nothing waits so long unless it waits for ever."""
ODIN_LSP = (sys.executable, "-m", "odin_lsp")
ODIN = {"version": 1, "events": True, "question": True, "reload": True}


class Client:
    """An editor as Odin sees it: sends commands, keeps what it is told, answers as the test says."""

    def __init__(self, lsp: LanguageClient) -> None:
        self.lsp = lsp
        self.info: dict[str, Any] = {}
        """What the server said of itself."""
        self.events: list[dict[str, Any]] = []
        self.answers: list[Any] = []
        self.questions: list[Any] = []
        self.reloads: list[Any] = []
        self.registered: list[str] = []
        """What the server wants to be told of besides, by method."""
        self._changed = asyncio.Event()
        self._has_left = False
        lsp.feature("odin/event")(lambda params: self._event(params))

        @lsp.feature("odin/question")
        async def question(params: Any) -> Any:
            return await self._question(params)

        lsp.feature("odin/reload")(lambda params: self._reload(params))
        lsp.feature(types.CLIENT_REGISTER_CAPABILITY)(lambda params: self._register(params))

    async def command(self, name: str, /, **argument: Any) -> Any:
        params = types.ExecuteCommandParams(f"odin.{name}", [argument])
        return plain(await self.lsp.workspace_execute_command_async(params))

    async def trusts(self, *kinds: str) -> bool:
        """The folder, with all of these kinds that it brings now, as a front end that has shown the list; whether it is
        trusted."""
        brought = await self.command("brought")
        items = [it["id"] for it in brought["items"] if it["kind"] in kinds]
        return (await self.command("trust", decision="trust", digest=brought["digest"], items=items))["trusted"]

    async def leave(self) -> None:
        """End the server; only once."""
        if not self._has_left:
            self._has_left = True
            await self.lsp.shutdown_session()

    async def until(self, condition: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The first event that fulfils the condition, now or later."""
        async with asyncio.timeout(PATIENCE):
            while True:
                for record in self.events:
                    if condition(record):
                        return record
                self._changed.clear()
                await self._changed.wait()

    async def until_reload(self) -> list[str]:
        async with asyncio.timeout(PATIENCE):
            while not self.reloads:
                self._changed.clear()
                await self._changed.wait()
        return self.reloads[0]

    async def until_watching(self) -> None:
        """Until the server counts on being told what changes on disk."""
        async with asyncio.timeout(PATIENCE):
            while types.WORKSPACE_DID_CHANGE_WATCHED_FILES not in self.registered:
                self._changed.clear()
                await self._changed.wait()

    def opens(self, path: Path, text: str | None = None, version: int = 1) -> None:
        item = types.TextDocumentItem(path.as_uri(), "text", version, path.read_text() if text is None else text)
        self.lsp.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def types(self, path: Path, version: int, text: str, line: int = 0, start: int = 0, end: int = 0) -> None:
        span = types.Range(types.Position(line, start), types.Position(line, end))
        self.lsp.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(version, path.as_uri()),
                [types.TextDocumentContentChangePartial(span, text)],
            )
        )

    async def until_asked(self, count: int) -> None:
        """Until there have been so many questions."""
        async with asyncio.timeout(PATIENCE):
            while len(self.questions) < count:
                self._changed.clear()
                await self._changed.wait()

    def tells_of(self, path: Path) -> None:
        """A file has changed on disk."""
        event = types.FileEvent(path.as_uri(), types.FileChangeType.Changed)
        self.lsp.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))

    def changes_folders(self, removed: Sequence[Path] = (), added: Sequence[Path] = ()) -> None:
        gone, new = ([types.WorkspaceFolder(it.as_uri(), it.name) for it in folders] for folders in (removed, added))
        self.lsp.workspace_did_change_workspace_folders(
            types.DidChangeWorkspaceFoldersParams(types.WorkspaceFoldersChangeEvent(added=new, removed=gone))
        )

    def changes_settings(self, **settings: Any) -> None:
        self.lsp.workspace_did_change_configuration(types.DidChangeConfigurationParams({"odin": settings}))

    async def until_kind(self, kind: str, turn: str | None = None) -> dict[str, Any]:
        return await self.until(lambda it: it["event"]["kind"] == kind and turn in (None, it["turnId"]))

    def kinds(self, turn: str) -> list[str]:
        return [record["event"]["kind"] for record in self.events if record["turnId"] == turn]

    def _event(self, params: Any) -> None:
        self.events.append(plain(params))
        self._changed.set()

    def _reload(self, params: Any) -> Any:
        self.reloads.append(plain(params)["uris"])
        self._changed.set()
        return {"reloaded": self.reloads[-1], "kept": []}

    def _register(self, params: Any) -> None:
        self.registered += [it.method for it in params.registrations]
        self._changed.set()

    async def _question(self, params: Any) -> Any:
        self.questions.append(plain(params))
        self._changed.set()
        answer = self.answers.pop(0) if self.answers else None
        return await answer if inspect.isawaitable(answer) else answer


def plain(value: Any) -> Any:
    """pytest-lsp makes objects of JSON; tests read better with dicts."""
    if hasattr(value, "_asdict"):
        return {key: plain(item) for key, item in value._asdict().items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


Start = Callable[..., Any]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "workspace"
    root.mkdir()
    (root / "greet.py").write_text("def greet(name):\n    return f'hello {name}'\n")
    return root


@pytest.fixture
async def start(root: Path) -> AsyncIterator[Start]:
    """Start a server and say hello; what is started is ended. Where `command` counts, it is what is started."""
    started: list[Client] = []

    async def start(
        *,
        odin: dict[str, Any] | None = None,
        options: Any = None,
        window: Any = None,
        workspace: Any = None,
        text_document: Any = None,
        command: Sequence[str] | None = None,
        folder: Path = root,
        trusted: bool = False,
        **env: str,
    ) -> Client:
        if trusted:
            trust_folder(folder, Path(env["XDG_STATE_HOME"]) if "XDG_STATE_HOME" in env else None)
        config = ClientServerConfig(list(command or forked(ODIN_LSP)), server_env={**os.environ, **env})
        lsp = await config.start()
        client = Client(lsp)
        started.append(client)
        capabilities = types.ClientCapabilities(
            window=window,
            workspace=workspace,
            text_document=text_document,
            experimental={"odin": ODIN if odin is None else odin},
        )
        answer = await lsp.initialize_session(
            types.InitializeParams(
                capabilities, process_id=os.getpid(), root_uri=folder.as_uri(), initialization_options=options
            )
        )
        client.info = plain(answer.capabilities.experimental)["odin"]
        return client

    yield start
    for client in started:
        await client.leave()


@pytest.fixture
def run(root: Path) -> Callable[..., Any]:
    """Odin in a terminal: the exit code, what it printed, and what it complained about."""

    async def run(*arguments: str, stdin: bytes = b"", **env: str) -> tuple[int | None, str, str]:
        process = await asyncio.create_subprocess_exec(
            *forked(ODIN_LSP),
            *arguments,
            stdin=-1,
            stdout=-1,
            stderr=-1,
            cwd=root,
            env={**os.environ, **env},
        )
        async with asyncio.timeout(2 * PATIENCE):
            out, err = await process.communicate(stdin)
        return process.returncode, out.decode(), err.decode()

    return run


@pytest.fixture
async def screen(start: Start, anthropic: dict[str, str]) -> "Screen":
    """A client with documents that can be edited and reviewed, in front of the loopback provider."""
    edits = types.WorkspaceEditClientCapabilities(
        document_changes=True,
        resource_operations=[
            types.ResourceOperationKind.Create,
            types.ResourceOperationKind.Rename,
            types.ResourceOperationKind.Delete,
        ],
    )
    workspace = types.WorkspaceClientCapabilities(apply_edit=True, workspace_edit=edits)
    return Screen(await start(odin={**ODIN, "review": True}, workspace=workspace, **anthropic))


@pytest.fixture
async def wire() -> AsyncIterator[Wire]:
    async with serving() as wire:
        yield wire


@pytest.fixture
def anthropic(wire: Wire) -> dict[str, str]:
    """The environment that makes the server talk to `wire`."""
    return {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": wire.url}


@pytest.fixture
def step(wire: Wire) -> Callable[..., None]:
    """One step of the model: these calls, each with its arguments."""
    return partial(play_calls, wire)


@pytest.fixture
def script(tmp_path: Path) -> Callable[..., dict[str, str]]:
    """The environment that makes the server play these replies."""

    def script(*replies: dict[str, Any]) -> dict[str, str]:
        path = tmp_path / "script.json"
        path.write_text(json.dumps({"replies": list(replies)}))
        return {"ODIN_MODEL": f"scripted/{path}"}

    return script


class Document:
    def __init__(self, text: str) -> None:
        self.lines = Lines(text)
        self.version = 1


class Screen:
    """An editor's documents: applies what the server sends, as a real one does, and tells of every change."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.documents: dict[str, Document] = {}
        self.reviews: list[dict[str, Any]] = []
        self.decide: Callable[[dict[str, Any]], Any] = lambda review: None

        @client.lsp.feature(types.WORKSPACE_APPLY_EDIT)
        async def apply_edit(params: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
            return await self.apply(params)

        client.lsp.feature("odin/review")(lambda params: self._review(params))

    def open(self, *paths: Path) -> None:
        for path in paths:
            self.documents[path.as_uri()] = Document(path.read_bytes().decode())
            self.client.opens(path, self.documents[path.as_uri()].lines.text)

    def text(self, path: Path) -> str:
        return self.documents[path.as_uri()].lines.text

    def saves(self, formatting: Callable[[str], str]) -> list[list[str]]:
        """Save what the server asks for, formatted; the list is what it has asked for."""
        asked: list[list[str]] = []

        def save(params: Any) -> Any:
            asked.append(plain(params)["uris"])
            for uri in asked[-1]:
                document = self.documents[uri]
                text = document.lines.text
                last = Position(text.count("\n") + 1, 0)
                self.change(uri, [Change(formatting(text), Position(0, 0), last)])
                Path(path_of(uri) or "").write_bytes(document.lines.text.encode())
                saved = types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(uri))
                self.client.lsp.text_document_did_save(saved)
            return {"saved": asked[-1], "failed": []}

        self.client.lsp.feature("odin/save")(save)
        return asked

    def type(self, path: Path, text: str, line: int, start: int = 0, end: int = 0) -> None:
        self.change(path.as_uri(), [Change(text, Position(line, start), Position(line, end))])

    async def apply(self, params: Any) -> types.ApplyWorkspaceEditResult:
        for edit in params.edit.document_changes:
            if isinstance(edit, types.CreateFile):
                path = Path(path_of(edit.uri) or "")
                path.touch(exist_ok=False)
                self.open(path)
                continue
            if isinstance(edit, types.DeleteFile):
                Path(path_of(edit.uri) or "").unlink()
                self.documents.pop(edit.uri, None)
                closed = types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(edit.uri))
                self.client.lsp.text_document_did_close(closed)
                continue
            document = self.documents[edit.text_document.uri]
            if edit.text_document.version not in (None, document.version):
                return types.ApplyWorkspaceEditResult(False, failure_reason="the document has changed")
            ordered = sorted(edit.edits, key=lambda it: (it.range.start.line, it.range.start.character), reverse=True)
            changes = [Change(it.new_text, _place(it.range.start), _place(it.range.end)) for it in ordered]
            asyncio.get_running_loop().call_later(0.01, self.change, edit.text_document.uri, changes)
        return types.ApplyWorkspaceEditResult(True)

    def _review(self, params: Any) -> Any:
        review = plain(params)
        self.reviews.append(review)
        return self.decide(review)

    def change(self, uri: str, changes: list[Change]) -> None:
        document = self.documents[uri]
        document.version += 1
        for change in changes:
            document.lines.apply(change, "utf-16")
        events = [
            types.TextDocumentContentChangePartial(types.Range(_spot(it.start), _spot(it.end)), it.text)
            for it in changes
        ]
        self.client.lsp.text_document_did_change(
            types.DidChangeTextDocumentParams(types.VersionedTextDocumentIdentifier(document.version, uri), events)
        )


def _place(position: types.Position) -> Position:
    return Position(position.line, position.character)


def _spot(position: Position) -> types.Position:
    return types.Position(position.line, position.character)
