"""Calls that begin early, how many run at once, and what has to be read again."""

import asyncio
from dataclasses import replace

import pytest

from odin_lsp.agent.executor import AT_ONCE
from odin_lsp.agent.hooks import HookDecision, Hooks
from odin_lsp.errors import ToolError
from odin_lsp.events import ToolFinished, ToolStarted
from odin_lsp.messages import Message, ToolCall, ToolResult, user
from odin_lsp.permissions.gate import Want
from odin_lsp.tools.base import all_tools
from tests.support.reviewing import Bench


@pytest.fixture
def bench(tmp_path):
    bench = Bench(tmp_path)
    bench.write("a.txt", "one\n")
    return bench


@pytest.fixture
def runs(monkeypatch):
    """The tools that have run, each before it did anything."""
    runs = []
    for tool in all_tools().values():
        watch(monkeypatch, type(tool), runs)
    return runs


def watch(monkeypatch, kind, runs):
    execute = kind.execute

    async def watched(self, params, context):
        runs.append(self.name)
        return await execute(self, params, context)

    monkeypatch.setattr(kind, "execute", watched)


def read(bench, call_id="1", **others):
    return ToolCall(call_id, "Read", {"file_path": str(bench.root / "a.txt")}, **others)


async def begun(executor, call):
    """Give a call the chance to begin early, and to get as far as it can."""
    executor.start_early(call)
    for task in asyncio.all_tasks() - {asyncio.current_task()}:
        await asyncio.wait([task])


async def results_of(executor, *calls):
    results = {}
    await executor.run(Message("assistant", calls), results)
    return [results[call.id] for call in calls]


async def test_a_call_that_only_reads_begins_early_and_its_result_is_used(bench, runs):
    await begun(bench.executor, read(bench))
    assert runs == ["Read"]

    [result] = await results_of(bench.executor, read(bench))

    assert "one" in result.content
    assert runs == ["Read"]


@pytest.mark.parametrize("kind", ["unknown", "unreadable", "wrong", "web", "edit", "command", "asked for", "denied"])
async def test_a_call_that_could_be_noticed_does_not_begin_early(bench, runs, kind, monkeypatch):
    path = str(bench.root / "new.txt")
    call = {
        "unknown": ToolCall("1", "Teleport", {}),
        "unreadable": read(bench, problem="not JSON"),
        "wrong": ToolCall("1", "Read", {"path": 1}),
        "web": ToolCall("1", "WebFetch", {"url": "http://127.0.0.1:9/", "prompt": "?"}),
        "edit": ToolCall("1", "WriteFile", {"file_path": path, "content": "x"}),
        "command": ToolCall("1", "ExecuteCommand", {"command": "ls"}),
        "asked for": read(bench),
        "denied": read(bench),
    }[kind]

    def wants(self, params, context):
        if kind == "denied":
            raise ToolError("no")
        return Want(tool="Read", title="May it?", reason="", what="", mode="ask_mode")

    if kind in ("asked for", "denied"):
        monkeypatch.setattr(type(all_tools()["Read"]), "wants", wants)

    await begun(bench.executor, call)

    assert runs == []


async def test_no_call_begins_before_the_hooks_have_seen_it(tmp_path, runs):
    async def hook(event, call):
        return HookDecision()

    bench = Bench(tmp_path, hooks=Hooks([hook]))
    bench.write("a.txt", "one\n")

    await begun(bench.executor, read(bench))

    assert runs == []


@pytest.mark.parametrize(("call_id", "name"), [("2", "a.txt"), ("1", "b.txt")])
async def test_a_call_that_began_early_is_not_the_result_of_another(bench, runs, call_id, name):
    bench.write("b.txt", "two\n")
    await begun(bench.executor, read(bench))

    [result] = await results_of(bench.executor, ToolCall(call_id, "Read", {"file_path": str(bench.root / name)}))

    assert {"a.txt": "one", "b.txt": "two"}[name] in result.content
    assert runs == ["Read", "Read"]


async def test_what_a_discarded_call_has_read_was_shown_to_nobody(bench):
    (bench.root / "link.txt").symlink_to("a.txt")
    await begun(bench.executor, ToolCall("1", "Read", {"file_path": str(bench.root / "link.txt")}))
    await begun(bench.executor, ToolCall("2", "Grep", {"pattern": "one", "output_mode": "content"}))

    await bench.executor.discard()

    assert list(bench.context.shown) == []
    assert bench.context.draft.names == {}
    assert (await bench.edit(bench.root / "a.txt", "one", "1")).failed


async def test_what_a_wanted_call_has_read_early_was_shown(bench):
    link = bench.root / "link.txt"
    link.symlink_to("a.txt")
    call = ToolCall("1", "Read", {"file_path": str(link)})
    await begun(bench.executor, call)
    await results_of(bench.executor, call)

    assert bench.context.draft.names == {bench.root / "a.txt": (link,)}
    assert not (await bench.edit(bench.root / "a.txt", "one", "1")).failed


@pytest.mark.parametrize("tool", ["Read", "LS", "ContextSummarizer"])
async def test_nobody_is_asked_and_nothing_spent_before_a_call_is_wanted(bench, tmp_path, tool):
    spent = []

    async def small(instructions, text):
        spent.append(text)
        return "a summary"

    bench.executor.context = replace(bench.context, small=small)
    outside = tmp_path / "outside.txt"
    outside.write_text("beyond\n")
    arguments = {
        "Read": {"file_path": str(outside)},
        "LS": {"path": str(tmp_path)},
        "ContextSummarizer": {"file_paths": [str(bench.root / "a.txt")], "focus": "?"},
    }[tool]
    call = ToolCall("1", tool, arguments)
    await begun(bench.executor, call)
    assert (bench.editor.questions, spent) == ([], [])

    [result] = await results_of(bench.executor, call)

    assert not result.failed
    assert len(bench.editor.questions) + len(spent) == 1


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("EditTool", {"file_path": "{root}/a.txt", "old_string": "one", "new_string": "1"}),
        ("ExecuteCommand", {"command": "echo 1 > a.txt"}),
        ("AskUser", {"question": "?", "options": [{"label": "a"}, {"label": "b"}]}),
    ],
)
async def test_nothing_begins_early_behind_a_call_that_may_change_something_or_asks(bench, runs, name, arguments):
    await bench.read(bench.root / "a.txt")
    runs.clear()
    first = ToolCall(
        "1", name, {key: it.format(root=bench.root) if isinstance(it, str) else it for key, it in arguments.items()}
    )
    await begun(bench.executor, first)
    await begun(bench.executor, read(bench, "2"))
    assert runs == []

    _, result = await results_of(bench.executor, first, read(bench, "2"))

    assert ("\tone" in result.content) == (name == "AskUser")
    await begun(bench.executor, read(bench, "3"))
    assert runs.count("Read") == 2, "the next step begins anew"


async def test_what_began_early_is_ended_before_it_is_forgotten(bench, monkeypatch):
    ended = []

    async def execute(self, params, context):
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            ended.append(params.file_path)

    monkeypatch.setattr(type(all_tools()["Read"]), "execute", execute)
    bench.executor.start_early(read(bench))
    await asyncio.sleep(0)

    async with asyncio.timeout(10):
        await bench.executor.discard()

    assert ended == [str(bench.root / "a.txt")]
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_so_many_calls_run_at_once_and_no_more(bench, monkeypatch):
    meet = asyncio.Barrier(AT_ONCE)
    running, most = 0, 0
    glob = type(all_tools()["Glob"]).execute

    async def execute(self, params, context):
        nonlocal running, most
        running += 1
        most = max(most, running)
        async with asyncio.timeout(10):
            await meet.wait()
        await asyncio.sleep(0)  # whoever else may begin does so now
        running -= 1
        return await glob(self, params, context)

    monkeypatch.setattr(type(all_tools()["Glob"]), "execute", execute)

    results = await bench.step(*(("Glob", {"pattern": f"*{number}"}) for number in range(3 * AT_ONCE)))

    assert most == AT_ONCE
    assert not any(result.failed for result in results)


async def test_several_questions_of_one_step_are_one(bench):
    bench.editor.says = "deny"

    results = await results_of(
        bench.executor,
        *(ToolCall(it, "ExecuteCommand", {"command": f"touch {it}"}) for it in ("new", "newer")),
        ToolCall("unreadable", "ExecuteCommand", {"command": "touch newest"}, problem="not JSON"),
        ToolCall("unknown", "Teleport", {}),
    )

    [question] = bench.editor.questions
    assert question.title == "Allow these 2 actions?"
    assert all("the user did not allow the command" in result.content for result in results[:2])
    assert all(result.failed for result in results)


async def test_c_060_a_batch_shows_only_what_is_not_allowed_yet(bench):
    bench.editor.says = "allow_session"
    await results_of(bench.executor, ToolCall("0", "ExecuteCommand", {"command": "mkdir -p one"}))
    bench.editor.says = "allow_once"

    commands = ("mkdir -p one two", "touch three", "cat a.txt", "touch four")
    await results_of(bench.executor, *(ToolCall(it, "ExecuteCommand", {"command": it}) for it in commands))

    question = bench.editor.questions[1]
    assert len(bench.editor.questions) == 2
    assert question.title == "Allow these 2 actions?"
    assert [it for it in commands if it in question.detail] == ["touch three", "touch four"]
    assert all((bench.root / name).exists() for name in ("two", "three", "four"))


@pytest.mark.parametrize("name", ["{root}/a.txt", "a.txt"])
async def test_what_a_shorter_history_does_not_name_any_more_has_to_be_read_again(bench, name):
    kept, gone = bench.root / "a.txt", bench.write("b.txt", "two\n")
    await bench.read(kept, gone)

    call = ToolCall("1", "Read", {"file_path": name.format(root=bench.root)})
    shown = Message("user", (ToolResult(call.id, "Read", "one"),))
    bench.executor.forget_unseen([user(f"look at {gone}"), Message("assistant", (call,)), shown])

    assert [path for path, _ in bench.context.shown] == [kept]
    assert not (await bench.edit(kept, "one", "1")).failed
    assert (await bench.edit(gone, "two", "2")).failed


@pytest.mark.parametrize(
    ("policy", "told"),
    [
        ("each", "a.txt: accepted (line 1)."),
        ("auto", "a.txt: applied without asking, as the user's settings say (line 1)."),
    ],
)
async def test_only_a_person_has_accepted_an_edit(tmp_path, policy, told):
    bench = Bench(tmp_path, policy=policy)
    path = bench.write("a.txt", "one\n")
    await bench.read(path)

    assert (await bench.edit(path, "one", "two")).content == told


async def test_what_a_call_is_about_and_what_it_led_to_is_said_in_one_line_each(bench):
    ask = ToolCall("1", "AskUser", {"question": "which?\nleft\tor right", "options": [{"label": "left\nthen up"}]})
    bench.editor.says = "1"

    await results_of(bench.executor, ask, ToolCall("2", "Glob", {"pattern": "a\nb"}), ToolCall("3", "Nothing", {}))

    told = [it.description for it in bench.events if isinstance(it, ToolStarted | ToolFinished)]
    assert "ask: which? left or right" in told
    assert [it for it in told if not it or len(it.splitlines()) > 1] == []
    assert [it for it in bench.executor.records if len(it.description.splitlines()) != 1] == []


async def test_of_several_calls_each_is_queued_then_runs_then_has_ended(bench):
    write = ToolCall("3", "WriteFile", {"file_path": str(bench.root / "b.txt"), "content": ""})
    await results_of(bench.executor, read(bench, "1"), read(bench, "2"), write)

    for call_id in ("1", "2", "3"):
        life = [it.kind for it in bench.events if getattr(it, "call_id", "") == call_id]
        assert life == ["toolQueued", "toolStarted", "toolFinished"]
    assert [it.call_id for it in bench.events[:3]] == ["1", "2", "3"]


async def test_others_have_their_turn_between_the_calls_of_a_reply(bench, monkeypatch):
    """It may have hundreds, and each is judged before the first one runs."""

    def beat():
        bench.events.append("turn")
        asyncio.get_running_loop().call_soon(beat)

    async def wanted(self, params, context):
        bench.events.append("judged")

    monkeypatch.setattr(type(all_tools()["Read"]), "wanted", wanted)
    asyncio.get_running_loop().call_soon(beat)

    await results_of(bench.executor, *(read(bench, str(number)) for number in range(9)))

    told = [it if isinstance(it, str) else it.kind for it in bench.events]
    for what in ("toolQueued", "judged", "toolStarted"):
        assert told.count(what) >= 9
        assert f"{what} {what}" not in " ".join(told)
