"""A client in memory, which answers as the test says, and the agent that it speaks with."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from odin_lsp.acp.agent import Agent

PATIENCE = 30


class Client:
    def __init__(self) -> None:
        self.agent = Agent(self._sent)
        self.updates: list[dict[str, Any]] = []
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.told: list[dict[str, Any]] = []
        """Notifications that are no updates, and answers to nobody."""
        self.choose: Callable[[dict[str, Any]], Any] = lambda params: params["options"][0]["optionId"]
        """The option that is chosen when permission is asked for; `None` cancels, and a future is waited for."""
        self.fill: Callable[[dict[str, Any]], Any] = lambda params: {"action": "cancel"}
        """What a form is answered with."""
        self.unsaved: dict[str, str] = {}
        """What `fs/read_text_file` has by path, in place of the file."""
        self.session = ""
        self.requests: list[str] = []
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._changed = asyncio.Event()
        self._answering: set[asyncio.Task[None]] = set()

    async def ask(self, method: str, **params: Any) -> Any:
        """The result; the error if there is none."""
        number = len(self._answers) + 1
        self._answers[number] = asyncio.get_running_loop().create_future()
        self.says(id=number, method=method, params=params)
        self.requests.append(method)
        self._changed.set()
        async with asyncio.timeout(PATIENCE):
            message = await self._answers[number]
        return message.get("result", message.get("error"))

    def says(self, **message: Any) -> None:
        self.agent.receive(json.dumps({"jsonrpc": "2.0", **message}).encode())

    async def begin(self, root: Path, *, fs: bool = False, forms: bool = False, **place: Any) -> dict[str, Any]:
        abilities = {"fs": {"readTextFile": fs, "writeTextFile": fs}, "elicitation": {"form": {}} if forms else None}
        await self.ask("initialize", protocolVersion=1, clientCapabilities=abilities)
        opened = await self.ask("session/new", **{"cwd": str(root), "mcpServers": [], **place})
        self.session = opened.get("sessionId", "")
        return opened

    async def prompt(self, text: str | list[dict[str, Any]], mode: str = "edit") -> Any:
        await self.ask("session/set_mode", sessionId=self.session, modeId=mode)
        blocks = [{"type": "text", "text": text}] if isinstance(text, str) else text
        return await self.ask("session/prompt", sessionId=self.session, prompt=blocks)

    def of_kind(self, kind: str) -> list[dict[str, Any]]:
        return [it for it in self.updates if it["sessionUpdate"] == kind]

    def said(self, kind: str = "agent_message_chunk") -> str:
        return "".join(it["content"]["text"] for it in self.of_kind(kind))

    def calls(self) -> dict[str, dict[str, Any]]:
        """Tool calls as a client shows them in the end, by title."""
        found: dict[str, dict[str, Any]] = {}
        for it in self.updates:
            if it["sessionUpdate"] in ("tool_call", "tool_call_update"):
                found[it["toolCallId"]] = {**found.get(it["toolCallId"], {}), **it}
        return {it["title"]: it for it in found.values()}

    def count(self, method: str) -> int:
        """How often it was asked for."""
        return self.requests.count(method)

    async def until(self, condition: Callable[[], Any]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not condition():
                self._changed.clear()
                await self._changed.wait()

    def _sent(self, body: bytes) -> None:
        message = json.loads(body)
        match message:
            case {"method": "session/update", "params": {"update": update}}:
                self.updates.append(update)
            case {"method": method, "id": id, "params": params}:
                self.asked.append((method, params))
                task = asyncio.create_task(self._answer(id, method, params))
                self._answering.add(task)
                task.add_done_callback(self._answering.discard)
            case {"id": int(id)} if id in self._answers:
                self._answers[id].set_result(message)
            case _:
                self.told.append(message)
        self._changed.set()

    async def _answer(self, id: int, method: str, params: dict[str, Any]) -> None:
        match method:
            case "session/request_permission":
                chosen = self.choose(params)
                chosen = await chosen if asyncio.isfuture(chosen) else chosen
                selected = {"outcome": "selected", "optionId": chosen}
                result: Any = {"outcome": {"outcome": "cancelled"} if chosen is None else selected}
            case "elicitation/create":
                result = self.fill(params)
            case "fs/read_text_file":
                result = {"content": self.unsaved.get(params["path"]) or Path(params["path"]).read_text()}
            case "fs/write_text_file":
                self.unsaved.pop(params["path"], None)
                Path(params["path"]).write_text(params["content"])
                result = {}
            case _:
                raise AssertionError(method)
        self.says(id=id, result=result)


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    client = Client()
    yield client
    await client.agent.close()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "workspace"
    root.mkdir()
    (root / "a.py").write_text("".join(f"line {number}\n" for number in range(1, 31)))
    return root


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Have the model say these things, one after the other."""

    def script(*replies: dict[str, Any]) -> None:
        path = tmp_path / "script.json"
        path.write_text(json.dumps({"replies": list(replies)}))
        monkeypatch.setenv("ODIN_MODEL", f"scripted/{path}")

    return script
