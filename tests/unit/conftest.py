"""A workspace, a person who answers as told, and a model that plays a script: the real core without an editor."""

import asyncio
import inspect
import json
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from odin_lsp.agent.core import Core
from odin_lsp.agent.hooks import Hooks
from odin_lsp.agent.live_session import LiveSession
from odin_lsp.agent.parts import Parts
from odin_lsp.agent.turn import UserMessage
from odin_lsp.agent.turn_queue import TurnQueue
from odin_lsp.config import Config, load
from odin_lsp.events import Event
from odin_lsp.intelligence.servers import NoServers, Servers
from odin_lsp.modes import Mode
from odin_lsp.ports import Answer, Question
from odin_lsp.project.project import Project, Told
from odin_lsp.records import Outcome
from odin_lsp.server.commands.state import state
from odin_lsp.sessions.session import Session
from odin_lsp.workspace.buffers import Buffers
from odin_lsp.workspace.cache import FileCache
from odin_lsp.workspace.files import Files
from tests.support.closing import closing
from tests.support.complaints import pytest_runtest_teardown  # noqa: F401 - a hook
from tests.support.trusting import agree_to_all


@dataclass
class Person:
    """The editor port in memory."""

    answers: list[Answer | None] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)

    async def ask(self, question: Question) -> Answer | None:
        self.questions.append(question)
        return self.answers.pop(0) if self.answers else None

    def notify(self, level: str, message: str) -> None:
        self.notices.append(f"{level}: {message}")


@dataclass
class Odin:
    root: Path
    script_file: Path
    person: Person
    settings: dict[str, Any]
    core: Core | None = None
    project: Project = field(default_factory=Project)
    config: Config = field(default_factory=Config)
    events: list[Event] = field(default_factory=list)
    servers: Callable[[Files], Servers] = lambda _: NoServers()
    """Language servers of its own, or of the machine, it has none."""
    _turns: int = 0

    def script(self, *replies: dict[str, Any]) -> None:
        self.script_file.write_text(json.dumps({"replies": list(replies)}))

    def start(self, *, hooks: Hooks | None = None, trusted: bool | None = None, **told: Any) -> Core:
        """`trusted`: the user trusts the folder, with all that it brings now; or the editor restricts it."""
        if self.core is None:
            settings = {"model": f"scripted/{self.script_file}", **self.settings}
            self.config, problems = load(self.root, settings=settings)
            assert problems == ()
            said = Told(roots=(self.root,), trusted=False if trusted is False else None, **told)
            self.project = Project(said, load=lambda *_: (self.config, ()))
            if trusted:
                agree_to_all(self.project)
            buffers, parts = Buffers(), Parts(hooks=hooks or Hooks())
            files = Files([self.root], buffers, FileCache())
            servers = self.servers(files)
            self.core = Core(self.project, self.person, buffers=buffers, parts=parts, servers=lambda _: servers)
            self.core.stream.subscribe(lambda record: self.events.append(record.event))
        return self.core

    def configure(self, **changes: Any) -> None:
        """Other settings from now on."""
        self.config = self.config.model_copy(update=changes)
        self.project.look()

    @property
    def live(self) -> LiveSession:
        """The current session; a new one, if there is none."""
        return self.start().sessions.current or self.core.sessions.begin()

    @property
    def turns(self) -> TurnQueue:
        return self.live.turns

    @property
    def session(self) -> Session:
        return self.live.session

    async def state(self) -> dict[str, Any]:
        """As an editor gets it."""
        server = SimpleNamespace(core=self.start(), project=self.project)
        return await state(server, {}, None)

    def message(self, text: str, mode: Mode = "ask_mode") -> UserMessage:
        self._turns += 1
        return UserMessage(turn_id=f"turn-{self._turns}", text=text, mode=mode)

    async def take(self, text: str = "hello", mode: Mode = "ask_mode") -> Outcome:
        return await self.turns.start(self.message(text, mode)).outcome()

    def kinds(self, *without: str) -> list[str]:
        return [event.kind for event in self.events if event.kind not in without]

    def of(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]


@pytest.fixture
def person() -> Person:
    return Person()


@pytest.fixture
async def odin(tmp_path: Path, person: Person):
    root = tmp_path / "workspace"
    root.mkdir()
    (root / "greet.py").write_text("def greet(name):\n    return f'hello {name}'\n")
    odin = Odin(root, tmp_path / "script.json", person, {})
    yield odin
    if odin.core:
        await odin.core.close()


@pytest.fixture
def call() -> Callable[..., dict[str, Any]]:
    """A tool call as a script writes it."""

    def make(tool: str, /, **arguments: Any) -> dict[str, Any]:
        return {"name": tool, "arguments": {key.replace("dash_", "-"): value for key, value in arguments.items()}}

    return make


@pytest.fixture(autouse=True)
def logs_are_as_before() -> Iterator[None]:
    """Some tests run a command as it is, which says for the whole process what is logged."""
    loggers = logging.getLogger(), logging.getLogger("odin")
    before = [(it.level, list(it.handlers)) for it in loggers]
    yield
    for it, (level, handlers) in zip(loggers, before, strict=True):
        it.setLevel(level)
        it.handlers[:] = handlers


@pytest.fixture(autouse=True)
def nothing_goes_on(request: pytest.FixtureRequest) -> None:
    """What a test begins has ended with it, and with all that it was given: else it would disturb another one."""
    if inspect.iscoroutinefunction(getattr(request.node, "obj", None)):
        request.getfixturevalue("no_task_is_left")


@pytest.fixture
async def no_task_is_left() -> AsyncIterator[None]:
    async with closing():
        yield
    for _ in range(10):  # what was cancelled takes a moment to end
        await asyncio.sleep(0)
    left = asyncio.all_tasks() - {asyncio.current_task()}
    assert not left, f"tasks go on: {left}"
