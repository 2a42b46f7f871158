"""Whole turns over answers that are cut off: a tool with effects never runs."""

import asyncio

import pytest

from odin_lsp.agent.compaction import Compaction
from odin_lsp.agent.executor import Executor
from odin_lsp.agent.hooks import Hooks
from odin_lsp.agent.instructions import Instructions
from odin_lsp.agent.planner import Planner
from odin_lsp.agent.prompt import Prompt
from odin_lsp.agent.turn import Progress, UserMessage
from odin_lsp.config import Limits
from odin_lsp.errors import ModelError
from odin_lsp.messages import user
from odin_lsp.permissions.rules import Effect
from odin_lsp.sessions.session import Session
from odin_lsp.tools.base import Params, Tool, ToolOutput
from odin_lsp.workspace.buffers import Buffers
from odin_lsp.workspace.cache import FileCache
from odin_lsp.workspace.files import Files
from tests.support.context import tool_context
from tests.support.sampling import sampled


class AnyParams(Params):
    path: str = ""


class Writes(Tool[AnyParams]):
    """Notes that it ran."""

    effect = Effect.MUTATING
    params = AnyParams

    def __init__(self, name: str, runs: list[str]) -> None:
        self.name = name
        self._runs = runs

    def describe(self, params):
        return self.name

    def about(self, params):
        return None, None

    async def execute(self, params, context):
        self._runs.append(self.name)
        return ToolOutput(data="done", description="done")


@pytest.fixture
def take(tmp_path):
    """Take a turn in Edit mode with two tools that write; what ran."""

    async def take(model):
        runs: list[str] = []
        files = Files([tmp_path], Buffers(), FileCache())
        context = tool_context(files, None, tmp_path, mode="edit_mode")
        session = Session(tmp_path)
        session.problem = "not written in this test"
        session.append(user("go"))
        planner = Planner(
            model=model,
            prompt=Prompt("edit_mode", [tmp_path], Instructions(), context.shown),
            session=session,
            executor=Executor({it: Writes(it, runs) for it in ("read", "ls")}, Hooks(), context),
            asker=None,
            compaction=Compaction(None),
            limits=Limits(),
            emit=lambda event: None,
            progress=Progress(UserMessage(turn_id="t", text="go", mode="edit_mode"), "s"),
        )
        async with asyncio.timeout(10):
            try:
                ending = await planner.run()
            except ModelError as error:
                ending = error
        return runs, ending

    return take


async def test_the_whole_answer_runs_both_tools(dialect, connect, wire, take, kit):
    wire.play(kit.Answer([dialect.called]), kit.Answer([dialect.hello]))

    runs, ending = await take(connect(dialect.ref))

    assert (runs, ending.reason) == (["read", "ls"], "end_turn")


@pytest.mark.thorough
async def test_an_answer_cut_at_any_byte_runs_nothing_and_ends_the_turn(dialect, connect, wire, take, kit):
    model = connect(dialect.ref)
    whole = kit.Answer([dialect.called]).raw()

    for cut in sampled(range(len(whole))):
        wire.play(whole[:cut])
        runs, ending = await take(model)
        assert (runs, isinstance(ending, ModelError)) == ([], True), f"cut at byte {cut}"


@pytest.mark.thorough
async def test_a_request_that_is_hung_up_on_at_any_byte_ends_the_turn_and_the_next_one_works(
    dialect, connect, wire, take, kit
):
    """Of the body, in which nothing ends, some."""
    model = connect(dialect.ref)
    wire.play(kit.Answer([dialect.hello]))
    await take(model)
    [whole] = wire.sent
    head = sum(len(name) + len(value) + 4 for name, value in whole.headers.items())

    for cut in sampled([*range(head), *range(head, head + len(whole.raw), 101)], 24):
        wire.hears = cut
        runs, ending = await take(model)
        assert (runs, isinstance(ending, ModelError)) == ([], True), f"hung up on at byte {cut}"
        wire.hears = None
        wire.play(kit.Answer([dialect.hello]))
        runs, ending = await take(model)
        assert (runs, ending.reason) == ([], "end_turn"), f"after it was hung up on at byte {cut}"
