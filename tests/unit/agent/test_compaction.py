"""Long conversations: shortened, summarised, and nothing that the user said is lost."""

import asyncio

import pytest

from odin_lsp.agent.compaction import COMPACT_AT, Compaction, words_of
from odin_lsp.agent.executor import Executor
from odin_lsp.agent.history import estimate, repair
from odin_lsp.agent.hooks import Hooks
from odin_lsp.agent.instructions import Instructions
from odin_lsp.agent.planner import Planner
from odin_lsp.agent.prompt import Prompt
from odin_lsp.agent.turn import Progress, UserMessage
from odin_lsp.config import Limits
from odin_lsp.errors import ModelUnavailable
from odin_lsp.events import Compacted, Usage
from odin_lsp.messages import Message, Text, ToolCall, ToolResult, user
from odin_lsp.models.base import Reply
from odin_lsp.sessions.session import Session
from odin_lsp.tools.base import all_tools
from odin_lsp.workspace.buffers import Buffers
from odin_lsp.workspace.cache import FileCache
from odin_lsp.workspace.files import Files
from tests.support.context import tool_context


def steps(count, size=400):
    for number in range(count):
        yield Message("assistant", (ToolCall(f"c{number}", "Read", {"file_path": f"/f{number}"}),))
        yield Message("user", (ToolResult(f"c{number}", "Read", "x" * size),))


def ignore(event):
    pass


async def compacted(messages, small=None, budget=10_000):
    return await Compaction(small).compact(messages, estimate(messages), budget, ignore)


async def test_stale_results_are_shortened_first_without_a_model():
    async def small(instructions, text):
        raise AssertionError("nobody needs to be asked")

    history = [user("the request"), *steps(10, size=3500)]

    shorter = await compacted(history, small)

    assert len(shorter) == len(history)
    assert estimate(shorter) < 5_000
    assert shorter[-1] == history[-1]


async def test_a_summary_takes_the_place_of_what_is_old_and_the_users_words_stay():
    asked = []

    async def small(instructions, text):
        asked.append(text)
        return "It read many files."

    history = [user("the request"), *steps(40), user("no, use tabs"), *steps(40), user("and be quick"), *steps(40)]

    shorter = await compacted(history, small, 6_000)
    again = await compacted([*shorter, *steps(100)], small, 6_000)

    for made in (shorter, again):
        assert made[0].parts[0] == Text("the request")
        assert "no, use tabs" in made[0].text
        assert "It read many files." in made[0].text
        assert made[0].text.count("<summary>") == 1
        assert made[1].role == "assistant"
        assert repair(made) == made
    assert "and be quick" in again[0].text
    assert len(asked) == 2


async def test_a_model_that_fails_twice_is_replaced_by_an_outline():
    tries = []

    async def small(instructions, text):
        tries.append(text)
        raise ModelUnavailable("down")

    shorter = await compacted([user("the request"), *steps(100)], small, 6_000)

    assert len(tries) == 2
    assert "Read {'file_path': '/f" in shorter[0].text


async def test_a_summary_begun_early_is_used_and_a_cancelled_one_says_so():
    began, go = asyncio.Event(), asyncio.Event()
    events = []

    async def small(instructions, text):
        began.set()
        await go.wait()
        return "early"

    history = [user("the request"), *steps(60)]
    compaction = Compaction(small)
    compaction.prepare(history, 8_000, 10_000)
    await began.wait()
    go.set()
    shorter = await compaction.compact([*history, *steps(3)], 9_000, 10_000, events.append)
    assert "early" in shorter[0].text

    go.clear()
    task = asyncio.create_task(compaction.compact(history, 9_000, 10_000, events.append))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [it.status for it in events] == ["started", "succeeded", "started", "cancelled"]


async def test_what_cannot_be_shorter_is_left():
    assert await compacted([user("x" * 100)], None, 10) is None


def test_only_the_users_own_words_count_as_theirs():
    assert words_of(Message("user", (Text("fix it"), Text("<context>x</context>")))) == "fix it"
    assert words_of(user("<reminder>\nx\n</reminder>")) == ""
    assert words_of(Message("user", (ToolResult("1", "Read", "do this"),))) == ""


WINDOW = 32_000


class LongWork:
    """A model that reads for 300 steps, and counts tokens as a provider that caches prefixes would."""

    ref = "scripted/long"

    def __init__(self, path):
        self.path = path
        self.requests = []

    async def stream(self, request):
        texts = [*request.system, *map(str, request.tools), *map(str, request.messages)]
        last = self.requests[-1] if self.requests else []
        shared = sum(len(one) for one, two in zip(texts, last, strict=False) if one == two)
        self.requests.append(texts)
        total = sum(map(len, texts))
        usage = Usage(
            input_tokens=(total - shared) // 4,
            cache_read_tokens=shared // 4,
            context_tokens=total // 4,
            context_limit=WINDOW,
        )
        number = len(self.requests)
        if number <= 300:
            calls = (
                Text(f"step {number}"),
                ToolCall(f"c{number}", "Read", {"file_path": self.path, "offset": number, "limit": 20}),
            )
            yield Reply(Message("assistant", calls), "tools", usage)
        else:
            yield Reply(Message("assistant", (Text("done"),)), "end", usage)


async def test_three_hundred_steps_on_a_small_window(tmp_path):
    path = tmp_path / "long.txt"
    path.write_text("".join(f"line {number} of a long file that says nothing\n" for number in range(400)))
    files = Files([tmp_path], Buffers(), FileCache())
    events = []

    async def small(instructions, text):
        return "Summary: it reads on."

    context = tool_context(files, None, tmp_path)
    session = Session(tmp_path / "sessions")
    session.append(user("the very first request"))
    model = LongWork(str(path))
    planner = Planner(
        model=model,
        prompt=Prompt("ask_mode", [tmp_path], Instructions(), context.shown),
        session=session,
        executor=Executor({"Read": all_tools()["Read"]}, Hooks(), context),
        editor=None,
        compaction=Compaction(small),
        limits=Limits(maxTurns=0, maxContext=WINDOW),
        emit=events.append,
        progress=Progress(UserMessage(turn_id="t", text="go", mode="ask_mode"), "s"),
    )

    assert (await planner.run()).reason == "end_turn"

    compactions = [it for it in events if isinstance(it, Compacted) and it.status == "succeeded"]
    assert 2 <= len(compactions) <= 60
    sizes = [sum(map(len, texts)) / 4 for texts in model.requests]
    assert max(sizes) <= WINDOW
    assert "the very first request" in "".join(model.requests[-1])
    assert max(sizes[150:]) <= 1.5 * COMPACT_AT * WINDOW
    usage = planner.progress.usage
    assert usage.cache_read_tokens / (usage.cache_read_tokens + usage.input_tokens) >= 0.9
