"""A workspace beside things that are none of the model's business, a person who answers as scripted, and one oracle for
every test: no tool ever says what it must not know, and nothing is created or changed outside of the workspace."""

import asyncio
import signal
from collections.abc import Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from odin_lsp.config import CacheSettings, FileRules
from odin_lsp.errors import ToolError
from odin_lsp.permissions import sandbox
from odin_lsp.ports import Answer, Question
from odin_lsp.tools.base import ToolContext, ToolOutput, all_tools
from odin_lsp.workspace.buffers import Buffers
from odin_lsp.workspace.cache import FileCache
from odin_lsp.workspace.files import Files
from tests.e2e.conftest import anthropic, root, screen, script, start, step, wire
from tests.support.context import tool_context
from tests.support.held_loop import (
    pytest_runtest_protocol,
    pytest_runtest_setup,
    pytest_runtest_teardown,
    watch_own_loops,
    watched_loop,
)
from tests.support.sampling import sampled
from tests.unit.conftest import call, odin, person

__all__ = ["anthropic", "call", "odin", "person", "root", "screen", "script", "start", "step", "wire"]
"""Fixtures for what needs a real server, or the whole loop."""
__all__ += ["pytest_runtest_protocol", "pytest_runtest_setup", "pytest_runtest_teardown", "watched_loop"]

HERE = Path(__file__).parent
CANARY = "canary-7f3a91c4"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Where nothing holds commands, those that are let run because they are held are asked about. What is thorough
    draws a sample itself."""
    is_held = sandbox.available()
    ours = [it for it in items if HERE in it.path.parents]
    wanted = [it for it in ours if is_held or not it.get_closest_marker("held")]
    drawn = sampled([it for it in wanted if not it.get_closest_marker("thorough")], 3)
    chosen = {*drawn, *(it for it in wanted if it.get_closest_marker("thorough"))}
    others = [it for it in ours if it not in chosen]
    dropped = set(others)
    items[:] = [it for it in items if it not in dropped]
    config.hook.pytest_deselected(items=others)
    watch_own_loops([it for it in items if HERE in it.path.parents])


@dataclass
class Person:
    """Says what the script says, and nothing when it has ended."""

    answers: list[str | None] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    always: str | None = None
    meanwhile: Callable[[], None] = lambda: None
    """What happens on the machine while the person thinks."""

    async def ask(self, question: Question) -> Answer | None:
        self.questions.append(question)
        self.meanwhile()
        said = self.answers.pop(0) if self.answers else self.always
        return Answer((said,)) if said else None

    def notify(self, level: str, message: str) -> None:
        pass

    @property
    def asked(self) -> list[str]:
        """The places that the person was asked about."""
        return [path for question in self.questions for path in question.paths]


@dataclass
class World:
    root: Path
    outside: Path
    """A folder beside the workspace; its files hold the canary."""
    person: Person
    context: ToolContext
    canary: str = CANARY
    said: list[str] = field(default_factory=list)
    """Every text that a tool gave, results and errors."""

    async def use(self, tool: str, /, **arguments: Any) -> ToolOutput:
        try:
            output = await all_tools()[tool].run(all_tools()[tool].parse(arguments), self.context)
        except ToolError as error:
            self.said.append(str(error))
            raise
        self.said += [output.data, output.description, *output.files, output.diff or ""]
        return output

    async def text(self, tool: str, /, **arguments: Any) -> str:
        """All that the model gets to know, be it a result or an error. What is neither is a bug and travels up."""
        before = len(self.said)
        with suppress(ToolError):
            await self.use(tool, **arguments)
        return "\n".join(self.said[before:])

    async def every_tool(self, path: Path | str) -> str:
        """What all tools say of one path."""
        return "\n".join(
            [
                await self.text("Read", file_path=str(path)),
                await self.text("LS", path=str(path)),
                await self.text("Glob", pattern="**/*", path=str(path)),
                *[await self.text("Grep", pattern="", path=str(path), output_mode=mode) for mode in MODES],
            ]
        )

    async def survey(self) -> str:
        """What all tools say of the whole workspace."""
        return "\n".join(
            [
                await self.text("LS", path=str(self.root)),
                await self.text("Glob", pattern="**/*"),
                await self.text("Glob", pattern="**/.*"),
                *[await self.text("Grep", pattern="", output_mode=mode, limit=ALL) for mode in MODES],
                await self.text("Grep", pattern="", glob="**/*", limit=ALL),
                await self.text("Grep", pattern="(?s).*", multiline=True, limit=ALL, **{"-C": 3}),
            ]
        )


MODES = ("content", "files_with_matches", "count")
ALL = 100_000


@pytest.fixture
def make_world(tmp_path):
    worlds: list[tuple[World, dict[str, bytes | str | None]]] = []

    def make(
        *roots: Path, deny: tuple[str, ...] = (), allow: tuple[str, ...] = (), max_file_size: int | None = None
    ) -> World:
        root, outside = tmp_path / "ws", tmp_path / "outside"
        root.mkdir(exist_ok=True)
        outside.mkdir(exist_ok=True)
        (root / "a.txt").write_text("plain\n")
        (outside / "secret.txt").write_text(f"{CANARY}\n")
        person = Person()
        cache = FileCache(CacheSettings(maxFileSize=max_file_size) if max_file_size else CacheSettings())
        files = Files(roots or [root], Buffers(), cache, FileRules(deny=deny, allow=allow))
        context = tool_context(files, person, tmp_path)
        worlds.append((world := World(root, outside, person, context), {}))
        worlds[-1][1].update(snapshot(outside))
        return world

    yield make
    for world, before in worlds:
        for text in world.said:
            assert CANARY not in text
            text.encode()  # what cannot be sent to a model is no answer
        assert snapshot(world.outside) == before


def snapshot(folder: Path) -> dict[str, bytes | str | None]:
    """Names and contents, without following links."""
    return {
        str(path): str(path.readlink()) if path.is_symlink() else path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


@pytest.fixture
def world(make_world) -> World:
    return make_world()


@pytest.fixture(params=["ripgrep", "fallback"])
def engine(request):
    """Sets a world to search with ripgrep, or without."""

    def choose(world: World) -> World:
        if request.param == "fallback":
            world.context.search._ripgrep = None
        else:
            assert world.context.search._ripgrep is not None
        return world

    choose.name = request.param
    return choose


HANG_SECONDS = 20


@pytest.fixture
def within():
    """Fails what hangs, also what never gives the event loop back. No stopwatch: a busy machine gets a multiple."""

    def late(signum: int, frame: Any) -> None:
        raise AssertionError("the event loop was held for too long")

    @asynccontextmanager
    async def within(seconds: float):
        seconds = max(HANG_SECONDS, 3 * seconds)
        before = signal.signal(signal.SIGALRM, late)
        signal.setitimer(signal.ITIMER_REAL, seconds + 0.5)
        try:
            async with asyncio.timeout(seconds):
                yield
        except TimeoutError:
            raise AssertionError(f"it took longer than {seconds} s") from None
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

    return within
