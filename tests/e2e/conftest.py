"""A real server process behind a pytest-lsp client, and a provider on loopback that plays Anthropic's wire format."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pytest_lsp import ClientServerConfig, LanguageClient

from tests.support.wire import KEY, Wire, serving

ODIN = {"version": 1, "events": True, "question": True, "reload": True}


class Client:
    """An editor as Odin sees it: sends commands, keeps what it is told, answers as the test says."""

    def __init__(self, lsp: LanguageClient) -> None:
        self.lsp = lsp
        self.events: list[dict[str, Any]] = []
        self.answers: list[Any] = []
        self.questions: list[Any] = []
        self.reloads: list[Any] = []
        self._changed = asyncio.Event()
        lsp.feature("odin/event")(lambda params: self._event(params))
        lsp.feature("odin/question")(lambda params: self._question(params))
        lsp.feature("odin/reload")(lambda params: self._reload(params))

    async def command(self, name: str, /, **argument: Any) -> Any:
        params = types.ExecuteCommandParams(f"odin.{name}", [argument])
        return plain(await self.lsp.workspace_execute_command_async(params))

    async def until(self, condition: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The first event that fulfils the condition, now or later."""
        async with asyncio.timeout(20):
            while True:
                for record in self.events:
                    if condition(record):
                        return record
                self._changed.clear()
                await self._changed.wait()

    async def until_reload(self) -> list[str]:
        async with asyncio.timeout(20):
            while not self.reloads:
                self._changed.clear()
                await self._changed.wait()
        return self.reloads[0]

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

    def _question(self, params: Any) -> Any:
        self.questions.append(plain(params))
        return self.answers.pop(0) if self.answers else None


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
    """Start a server and say hello; what is started is ended."""
    started: list[LanguageClient] = []

    async def start(
        *,
        odin: dict[str, Any] | None = None,
        options: Any = None,
        window: Any = None,
        workspace: Any = None,
        **env: str,
    ) -> Client:
        config = ClientServerConfig([sys.executable, "-m", "odin_lsp"], server_env={**os.environ, **env})
        lsp = await config.start()
        started.append(lsp)
        client = Client(lsp)
        capabilities = types.ClientCapabilities(
            window=window, workspace=workspace, experimental={"odin": ODIN if odin is None else odin}
        )
        await lsp.initialize_session(
            types.InitializeParams(
                capabilities, process_id=os.getpid(), root_uri=root.as_uri(), initialization_options=options
            )
        )
        return client

    yield start
    for lsp in started:
        await lsp.shutdown_session()


@pytest.fixture
async def wire() -> AsyncIterator[Wire]:
    async with serving() as wire:
        yield wire


@pytest.fixture
def anthropic(wire: Wire) -> dict[str, str]:
    """The environment that makes the server talk to `wire`."""
    return {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": wire.url}


@pytest.fixture
def script(tmp_path: Path) -> Callable[..., dict[str, str]]:
    """The environment that makes the server play these replies."""

    def script(*replies: dict[str, Any]) -> dict[str, str]:
        path = tmp_path / "script.json"
        path.write_text(json.dumps({"replies": list(replies)}))
        return {"ODIN_MODEL": f"scripted/{path}"}

    return script
