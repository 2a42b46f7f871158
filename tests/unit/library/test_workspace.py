"""Odin as a library, as a program uses it: through the names that `odin_lsp` offers."""

import asyncio
import json

import pytest

from odin_lsp import (
    Answer,
    Buffers,
    ContextItem,
    Decision,
    DiskEditor,
    Effect,
    HookDecision,
    Params,
    Reply,
    ReviewAnswer,
    TextDelta,
    Tool,
    ToolOutput,
    TurnOptions,
    Workspace,
    accept_all,
    builtin_tools,
)
from odin_lsp.agent.core import Core
from odin_lsp.agent.parts import Parts
from odin_lsp.agent.turn import UserMessage
from odin_lsp.errors import ContextTooLong, EmptyPrompt, ModelError, RequestError, SessionBusy, SessionError
from odin_lsp.events import MAIN, MessageFinished, Notice, QuestionAsked, TurnFinished, TurnStarted, UserSpoke
from odin_lsp.messages import Message, Text, ToolCall, user
from odin_lsp.project.project import Project, Told
from odin_lsp.workspace.uris import path_of


class Replies:
    """A model of the program's own, which says one thing after the other."""

    def __init__(self, *replies, ref="mine/one"):
        self.ref = ref
        self.requests = []
        self.is_closed = False
        self.may_answer = asyncio.Event()
        self.may_answer.set()
        self._left = list(replies)

    async def stream(self, request):
        self.requests.append(request)
        await self.may_answer.wait()
        part = self._left.pop(0)
        if isinstance(part, Exception):
            raise part
        if isinstance(part, str):
            yield TextDelta(part)
            part = Text(part)
        yield Reply(Message("assistant", (part,), self.ref), "tools" if isinstance(part, ToolCall) else "end")

    async def aclose(self):
        self.is_closed = True


class Accepting(DiskEditor):
    async def review(self, review):
        return accept_all(review)

    async def ask(self, question):
        return Answer((question.options[0].id,))


class LoadParams(Params):
    host: str


class Load(Tool[LoadParams]):
    """Say how busy a machine is."""

    name = "Load"
    effect = Effect.READ_ONLY
    params = LoadParams

    def describe(self, params):
        return f"look at {params.host}"

    async def execute(self, params, context):
        return ToolOutput(data=f"{params.host} is idle", description="looked", files=(context.session_id,))


class Deploy(Load):
    """Deploy to a machine."""

    name = "Deploy"
    effect = Effect.MUTATING


@pytest.fixture
def root(tmp_path):
    (tmp_path / "greet.py").write_text("hello\n")
    return tmp_path


@pytest.fixture
def write(root):
    """A call that creates a file."""
    arguments = {"file_path": str(root / "new.txt"), "content": "new\n"}
    return ToolCall("1", "WriteFile", arguments)


class Broken(Load):
    """Fails as nobody thought of."""

    name = "Broken"

    async def execute(self, params, context):
        raise KeyError("no such thing")


class Endless(Load):
    """Never ends."""

    name = "Endless"
    timeout = 0.05

    async def execute(self, params, context):
        await asyncio.Event().wait()


@pytest.mark.parametrize(
    ("tool", "told"),
    [(Broken(), "Broken has a fault of its own"), (Endless(), "Endless was stopped: it took longer than 0.05 seconds")],
)
async def test_a_tool_that_fails_or_takes_too_long_is_an_error_and_the_turn_goes_on(root, tool, told):
    model = Replies(ToolCall("1", tool.name, {"host": "a"}), "done without")
    async with Workspace(root, model=model, tools=[tool]) as workspace:
        outcome = await workspace.session.ask("go").outcome()

    assert (outcome.reason, outcome.answer) == ("end_turn", "done without")
    [result] = model.requests[1].messages[-1].results
    assert result.failed
    assert result.content.startswith(told)


@pytest.mark.parametrize("own", [None, [Deploy()]])
async def test_a_tool_that_is_added_is_offered_from_the_next_turn_on(root, own):
    model = Replies("one", ToolCall("1", "Load", {"host": "a"}), "two")
    async with Workspace(root, model=model, tools=own) as workspace:
        await workspace.session.ask("go").outcome()
        workspace.add_tool(Load())
        with pytest.raises(RequestError, match="already a tool 'Load'"):
            workspace.add_tool(Load())
        await workspace.session.ask("go").outcome()

    listed = [{it.name for it in request.tools} for request in model.requests]
    assert listed[1] - listed[0] == {"Load"}
    assert model.requests[2].messages[-1].results[0].content == "a is idle"


async def test_a_turn_is_its_events_in_order_and_the_outcome_last(root):
    async with Workspace(root, model=Replies("hi")) as workspace:
        turn = workspace.session.ask("hello")
        records = [record async for record in turn]

    kinds = [record.event.kind for record in records]
    assert (kinds[0], kinds[-1]) == ("turnStarted", "turnFinished")
    assert kinds.index("messageFinished") > kinds.index("turnStarted")
    assert {(it.turn_id, it.session_id) for it in records} == {(turn.id, turn.session_id)}
    assert records[-1].event.outcome == await turn.outcome()
    assert (await turn.outcome()).answer == "hi"


@pytest.mark.parametrize("partial", [False, True])
async def test_pieces_come_only_if_they_are_asked_for(root, partial):
    async with Workspace(root, model=Replies("hi")) as workspace:
        kinds = {record.event.kind async for record in workspace.session.ask("hello", partial=partial)}

    assert ("textStreamed" in kinds) == partial


@pytest.mark.parametrize(("mode", "name"), [("ask_mode", "ask"), ("plan_mode", "plan"), ("edit_mode", "edit")])
async def test_each_mode_has_its_verb(root, mode, name):
    async with Workspace(root, model=Replies("hi")) as workspace:
        assert (await getattr(workspace.session, name)("hello").outcome()).mode == mode


async def test_a_message_waits_for_the_one_before_it_and_goes_on_when_that_is_cancelled(root):
    model = Replies("never", "hi")
    model.may_answer.clear()
    async with Workspace(root, model=model) as workspace:
        session = workspace.session
        first, second = session.ask("one"), session.ask("two")
        while not model.requests:
            await asyncio.sleep(0)
        assert session.is_busy
        with pytest.raises(SessionBusy):
            session.clear()
        assert first.cancel()
        model.may_answer.set()

        assert (await first.outcome()).reason == "interrupted"
        assert session.is_busy
        assert (await second.outcome()).reason == "end_turn"
        assert not session.is_busy
        assert not first.cancel()
        assert not session.cancel()


async def test_what_is_said_into_a_turn_is_heard(root):
    model = Replies("one", "two")
    model.may_answer.clear()
    async with Workspace(root, model=model) as workspace:
        turn = workspace.session.ask("hello")
        while not model.requests:
            await asyncio.sleep(0)
        assert turn.steer("in German")
        assert workspace.session.steer("please")
        model.may_answer.set()
        heard = [record.event.text async for record in turn if isinstance(record.event, UserSpoke)]

        assert heard == ["in German", "please"]
        assert not turn.steer("too late")


async def test_a_turn_that_was_cut_off_goes_on(root):
    model = Replies("done")
    model.may_answer.clear()
    async with Workspace(root, model=model) as workspace:
        turn = workspace.session.ask("hello")
        while not model.requests:
            await asyncio.sleep(0)
        turn.cancel()
        await turn.outcome()
        model.may_answer.set()
        records = [record async for record in workspace.session.go_on()]

        assert (records[0].turn_id, records[-1].event.outcome.answer) == (turn.id, "done")
        with pytest.raises(RequestError, match="nothing to go on with"):
            workspace.session.go_on()


async def test_what_a_person_types_may_be_a_command_and_what_a_program_says_is_none(root):
    model = Replies("one", "two")
    async with Workspace(root, model=model) as workspace:
        command = await workspace.session.send("ask_mode", "!cat greet.py").outcome()
        await workspace.session.ask("!cat greet.py").outcome()

    assert "hello" in command.answer
    assert len(model.requests) == 1
    assert model.requests[0].messages[-1].text.endswith("!cat greet.py")


async def test_a_conversation_is_made_shorter_when_that_is_wanted(root):
    model = Replies("a" * 4000, "a summary")
    async with Workspace(root, model=model) as workspace:
        await workspace.session.ask("hello").outcome()
        outcome = await workspace.session.compact("names").outcome()

    assert "names" in model.requests[1].system[0]
    assert outcome.reason == "end_turn"


async def test_the_steps_of_a_plan_are_carried_out_and_ticked(root):
    plan = root / "plan.md"
    plan.write_text("# Tidy up\n\n- [ ] Rename it\n- [ ] Test it\n")
    done = {"todos": [{"id": "step-2", "content": "Test it", "status": "completed"}]}
    model = Replies(ToolCall("1", "TodoWrite", done), "done")
    async with Workspace(root, model=model) as workspace:
        turn = await workspace.carry_out(plan, [2])
        assert (await turn.outcome()).reason == "end_turn"

    assert plan.read_text() == "# Tidy up\n\n- [ ] Rename it\n- [x] Test it\n"


async def test_a_conversation_is_known_until_it_is_cleared(root):
    model = Replies("one", "two", "three")
    async with Workspace(root, model=model) as workspace:
        session = workspace.session
        await session.ask("first").outcome()
        await session.ask("second").outcome()
        assert [message.role for message in session.history] == ["user", "assistant"] * 2
        session.clear()
        assert session.history == ()
        await session.ask("third").outcome()

    said = [[message.text for message in request.messages] for request in model.requests]
    assert [len(it) for it in said] == [1, 3, 1]
    assert said[-1][0].endswith("third")


async def test_sessions_are_apart_and_can_be_gone_on_with(root):
    async with Workspace(root, model=Replies("one", "two")) as workspace:
        first = workspace.session
        second = workspace.begin("Other things")
        await asyncio.gather(first.ask("a").outcome(), second.ask("b").outcome())
        assert workspace.session == second
        assert second.title == "Other things"

    async with Workspace(root, model=Replies("three")) as workspace:
        session = await workspace.resume(first.id)
        assert workspace.session == session
        assert session.history[0].text.endswith("a")
        with pytest.raises(SessionError, match="closed"):
            first.ask("more")
        with pytest.raises(SessionError, match="no session"):
            await workspace.resume("nothing")


async def test_what_there_is_in_a_workspace_is_told(root):
    (root / ".gitignore").write_text("made.txt\n")
    (root / "made.txt").write_text("")
    async with Workspace(root, model=Replies("hi", "again")) as workspace:
        session = workspace.begin("greetings")
        assert (session.last_turn, session.usage.output_tokens) == (None, 0)
        await session.ask("hello").outcome()

        assert (await workspace.sessions())[0].title == "greetings"
        assert (await workspace.resume(session.id[:8])).id == session.id
        assert (session.last_turn.body, session.last_turn.answer_summary) == ("hello", "hi")
        assert sorted(await workspace.files()) == [".gitignore", "greet.py"]
        assert "undo" in [it.name for it in await workspace.slash_commands()]
        assert workspace.model == "mine/one"


async def test_models_of_ones_own_are_asked_and_left_open(root):
    model, small = Replies("hi"), Replies("a summary", ref="mine/small")
    async with Workspace(root, model=model, small_model=small) as workspace:
        records = [record async for record in workspace.session.ask("hello")]

    assert records[0].event.model == "mine/one"
    assert not model.is_closed
    with pytest.raises(RequestError, match="two models"):
        Workspace(root, model=Replies(), small_model=Replies())


async def test_a_model_can_be_named_and_settings_win(root, tmp_path):
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"replies": [{"calls": [{"name": "LS", "arguments": {"path": str(root)}}]}] * 2}))
    async with Workspace(root, model=f"scripted/{script}", settings={"limits": {"maxTurns": 1}}) as workspace:
        assert (await workspace.session.ask("hello").outcome()).reason == "max_turns"


async def test_a_tool_of_ones_own_is_offered_and_called(root):
    model = Replies(ToolCall("1", "Load", {"host": "db"}), "done")
    async with Workspace(root, model=model, tools=[*builtin_tools(), Load()]) as workspace:
        outcome = await workspace.session.ask("is db busy?").outcome()

    assert {"Load", "Read"} <= {tool.name for tool in model.requests[0].tools}
    assert model.requests[1].messages[-1].results[0].content == "db is idle"
    assert outcome.tools[0].affected_files == (outcome.session_id,)


async def test_tools_can_be_taken_away(root):
    model = Replies("hi")
    async with Workspace(root, model=model, tools=[Load()]) as workspace:
        await workspace.session.edit("hello").outcome()

    assert [tool.name for tool in model.requests[0].tools] == ["Load"]
    with pytest.raises(RequestError, match="two tools"):
        Workspace(root, tools=[Load(), Load()])


@pytest.mark.parametrize(("rules", "kinds"), [([], []), ([{"tool": "Deploy", "decision": "ask"}], ["permission"])])
async def test_rules_are_about_tools_of_ones_own_too(root, rules, kinds):
    model = Replies(ToolCall("1", "Deploy", {"host": "db"}), "done")
    more = {"tools": [Deploy()], "settings": {"rules": rules}, "editor": Accepting()}
    async with Workspace(root, model=model, **more) as workspace:
        events = [record.event async for record in workspace.session.edit("deploy")]

    assert [it.question.kind for it in events if isinstance(it, QuestionAsked)] == kinds
    assert model.requests[1].messages[-1].results[0].content == "db is idle"


async def test_the_system_prompt_can_be_another(root):
    model = Replies("hi")

    def prompt(blocks):
        return ("You are a reviewer.", blocks[0])

    async with Workspace(root, model=model, system_prompt=prompt) as workspace:
        await workspace.session.ask("hello").outcome()

    assert model.requests[0].system[0] == "You are a reviewer."
    assert "Workspace:" in model.requests[0].system[1]


async def test_hooks_object(root):
    async def hook(event, call):
        return HookDecision(allow=False, message="not today")

    model = Replies(ToolCall("1", "LS", {"path": str(root)}), "done")
    async with Workspace(root, model=model, hooks=[hook]) as workspace:
        await workspace.session.ask("hello").outcome()

    assert model.requests[1].messages[-1].results[0].content == "not today"


async def test_a_conversation_is_made_shorter_by_the_program(root):
    room = []

    async def compact(messages, tokens):
        room.append(tokens)
        return [user("what was said before"), messages[-1]]

    model = Replies("a" * 40_000, "b")
    settings = {"limits": {"maxContext": 20_000, "maxTokens": 1000}}
    async with Workspace(root, model=model, settings=settings, compact=compact) as workspace:
        await workspace.session.ask("c" * 40_000).outcome()
        kinds = [record.event.kind async for record in workspace.session.ask("more")]

    assert "compacted" in kinds
    assert 0 < room[0] < 20_000
    assert model.requests[-1].messages[0].text == "what was said before"
    assert len(model.requests) == 2


async def test_without_a_reviewer_nothing_is_changed_and_that_is_said(root, write, caplog):
    model = Replies(write, "done")
    async with Workspace(root, model=model) as workspace:
        outcome = await workspace.session.edit("write it").outcome()

    assert not (root / "new.txt").exists()
    assert [(it.state, it.reason) for it in outcome.receipts] == [
        ("rejected", "not reviewed: this program rejects all changes")
    ]
    assert "not reviewed" in model.requests[1].messages[-1].results[0].content
    assert "override `review`" in caplog.text


async def test_what_is_accepted_is_written_and_can_be_undone(root, write):
    async with Workspace(root, model=Replies(write, "done"), editor=Accepting()) as workspace:
        turn = workspace.session.edit("write it")
        assert [it.state for it in (await turn.outcome()).receipts] == ["accepted"]
        assert (root / "new.txt").read_text() == "new\n"
        undone = await workspace.undo(turn.id)
        assert undone.restored == (root / "new.txt",)
        assert not (root / "new.txt").exists()
        await workspace.undo(undone.undo_id)
        assert (root / "new.txt").exists()


ACCEPTING_ANOTHER = ReviewAnswer(decisions=(Decision(hunk_id="another", decision="accept"),))


@pytest.mark.parametrize("answer", [None, ReviewAnswer(), ACCEPTING_ANOTHER])
async def test_what_a_reviewer_does_not_decide_on_is_rejected(root, write, answer):
    class Silent(DiskEditor):
        async def review(self, review):
            return answer

    async with Workspace(root, model=Replies(write, "done"), editor=Silent()) as workspace:
        outcome = await workspace.session.edit("write it").outcome()

    assert [(it.state, it.reason) for it in outcome.receipts] == [("rejected", "not decided on")]


async def test_questions_are_answered_by_the_editor(root):
    call = ToolCall("1", "ExecuteCommand", {"command": "touch made", "description": "make it"})
    model = Replies(call, "done")
    async with Workspace(root, model=model, editor=Accepting()) as workspace:
        events = [record.event async for record in workspace.session.edit("make it")]

    assert [it.question.kind for it in events if isinstance(it, QuestionAsked)] == ["permission"]
    assert (root / "made").exists()


@pytest.mark.parametrize("name", ["ask", "review"])
async def test_a_fault_in_the_editor_ends_the_turn_and_is_raised(root, write, name):
    async def fail(_):
        raise ZeroDivisionError

    command = ToolCall("1", "ExecuteCommand", {"command": "touch made", "description": "make it"})
    editor = DiskEditor()
    setattr(editor, name, fail)
    model = Replies(write if name == "review" else command, "never", "hi")
    async with Workspace(root, model=model, editor=editor) as workspace:
        records = []
        workspace.subscribe(records.append)
        turn = workspace.session.edit("do it")
        with pytest.raises(ZeroDivisionError):
            [record async for record in turn]
        with pytest.raises(ZeroDivisionError):
            await turn.outcome()

        [finished] = [record.event for record in records if isinstance(record.event, TurnFinished)]
        assert finished.outcome.reason == "interrupted"
        assert not workspace.session.is_busy
        assert len(model.requests) == 1
        assert sorted(it.name for it in root.iterdir()) == ["greet.py"]


async def test_a_fault_in_the_loop_ends_the_turn(root):
    model = Replies("never", "hi")
    model.may_answer.clear()
    async with Workspace(root, model=model) as workspace:
        turn = workspace.session.ask("hello")
        with pytest.raises(ZeroDivisionError):
            [1 / 0 async for _ in turn]
        assert (await turn.outcome()).reason == "interrupted"
        model.may_answer.set()
        assert (await workspace.session.ask("again").outcome()).reason == "end_turn"


async def test_what_runs_when_the_workspace_is_left_is_ended_and_nothing_waits(root, write):
    class Slow(DiskEditor):
        async def review(self, review):
            asked.set()
            await asyncio.Event().wait()

    asked = asyncio.Event()
    async with Workspace(root, model=Replies(write), editor=Slow()) as workspace:
        turn = workspace.session.edit("write it")
        await asked.wait()

    outcome = await turn.outcome()
    assert (outcome.reason, [it.state for it in outcome.receipts]) == ("interrupted", ["rejected"])
    with pytest.raises(RequestError, match="not open"):
        workspace.begin()


async def test_what_another_odin_has_left_in_review_waits_on(root, write):
    class Later(DiskEditor):
        async def review(self, review):
            shown.set()

    shown = asyncio.Event()
    core = Core(Project(Told(roots=(root,))), Later(), parts=Parts(model=Replies(write)))
    live = core.sessions.begin()
    live.turns.start(UserMessage(turn_id="t", text="write it", mode="edit_mode"))
    await shown.wait()
    await core.close()

    async with Workspace(root, model=Replies("hi"), editor=Accepting()) as workspace:
        opened = []
        workspace.subscribe(lambda record: opened.append(record.event.kind))
        session = await workspace.resume(live.session.id)
        await session.ask("hello").outcome()

    assert "reviewOpened" in opened
    assert "reviewClosed" not in opened
    assert not (root / "new.txt").exists()


async def test_a_subscriber_hears_of_all_sessions_until_it_stops(root):
    async with Workspace(root, model=Replies("one", "two", "three")) as workspace:
        records = []
        stop = workspace.subscribe(records.append)
        first, second = workspace.begin(), workspace.begin()
        await first.ask("a").outcome()
        await second.ask("b").outcome()
        stop()
        await second.ask("c").outcome()

    finished = [record.session_id for record in records if isinstance(record.event, TurnFinished)]
    assert finished == [first.id, second.id]
    assert [record.seq for record in records] == list(range(1, len(records) + 1))


async def test_what_cannot_be_done_is_said_at_once(root, caplog):
    with pytest.raises(RequestError, match="is not a folder"):
        Workspace(root / "greet.py")
    async with Workspace(root, settings={"limits": {"maxTurns": -1}}) as workspace:
        with pytest.raises(EmptyPrompt):
            workspace.session.ask(" ")
        assert not workspace.session.is_busy
    assert "maxTurns" in caplog.text


async def test_what_goes_with_a_message_is_sent_but_for_what_no_model_may_read(root):
    (root / ".env").write_text("TOKEN=hush")
    model = Replies("seen")
    items = [
        ContextItem(kind="file", uri=(root / "greet.py").as_uri()),
        ContextItem(kind="file", uri=(root / ".env").as_uri(), content="TOKEN=hush"),
    ]
    async with Workspace(root, model=model) as workspace:
        records = [it async for it in workspace.session.send("ask_mode", "look", context=items)]

    said = model.requests[0].messages[-1].text
    assert ("hello\n" in said, "hush" in said) == (True, False)
    assert any(isinstance(it.event, Notice) and ".env was not sent along" in it.event.message for it in records)
    [began] = [it.event for it in records if isinstance(it.event, TurnStarted)]
    assert [it.uri for it in began.context] == [items[0].uri]


async def test_documents_that_are_open_elsewhere_are_read_as_they_are_there(root):
    buffers = Buffers()
    buffers.open((root / "greet.py").as_uri(), 1, "typed\n")
    model = Replies(ToolCall("1", "Read", {"file_path": "greet.py"}), "seen")
    async with Workspace(root, model=model, buffers=buffers) as workspace:
        await workspace.session.ask("look").outcome()

    assert "typed" in model.requests[1].messages[-1].results[0].content


async def test_another_model_can_be_selected_until_the_workspace_is_closed(root, tmp_path, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-fake")
    async with Workspace(root) as workspace:
        first, other = workspace.model, next(it for it in workspace.models if it != workspace.model)
        effort = workspace.efforts(other)[-1]
        workspace.select(f"{other}@{effort}")

        assert workspace.model == f"{other}@{effort}"
        with pytest.raises(ModelError):
            workspace.select("nobody/knows")
    async with Workspace(root) as workspace:
        assert workspace.model == first


async def test_a_hunk_can_be_decided_before_the_review_is_answered(root, write):
    class AtOnce(DiskEditor):
        async def review(self, review):
            [hunk] = review.files[0].hunks
            await workspace.decide(Decision(hunk_id=hunk.id, decision="accept"))
            await asyncio.Event().wait()  # nobody waits for it any more

    async with Workspace(root, model=Replies(write, "done"), editor=AtOnce()) as workspace:
        outcome = await workspace.session.edit("write it").outcome()

    assert (root / "new.txt").read_text() == "new\n"
    assert [it.state for it in outcome.receipts] == ["accepted"]


async def test_what_has_happened_in_a_session_is_told_again(root):
    async with Workspace(root, model=Replies("one", "two")) as workspace:
        session = workspace.session
        assert [it async for it in session.events()] == []
        await session.ask("first").outcome()
        await session.ask("second").outcome()
        told = [it.event async for it in session.events()]

    assert [it.text for it in told if isinstance(it, TurnStarted)] == ["first", "second"]
    assert [it.text for it in told if isinstance(it, MessageFinished)] == ["one", "two"]


async def test_the_steps_of_a_plan_are_known(root):
    async with Workspace(root, model=Replies("# Plan\n\n- [ ] one\n- [x] two\n")) as workspace:
        outcome = await workspace.session.plan("plan it").outcome()
        steps = workspace.steps(path_of(outcome.plan))

    assert [(it.content, it.status) for it in steps] == [("one", "pending"), ("two", "completed")]


async def test_the_end_of_a_call_has_its_result_and_who_let_it_happen(root):
    asks = {"rules": [{"tool": "Deploy", "decision": "ask"}]}
    calls = (ToolCall("1", "Load", {"host": "a" * 20_000}), ToolCall("2", "Deploy", {"host": "b"}), "done")
    async with Workspace(
        root, model=Replies(*calls), tools=[Load(), Deploy()], editor=Accepting(), settings=asks
    ) as workspace:
        records = [record async for record in workspace.session.edit("go")]
        past = [record.event async for record in workspace.session.events()]

    ended = [it.event for it in records if it.event.kind == "toolFinished"]
    assert [(len(it.result), it.result[:1], it.audit) for it in ended] == [(10_000, "a", "rules"), (9, "b", "user")]
    assert [it.result for it in past if it.kind == "toolFinished"] == ["", ""]


async def test_who_has_changed_a_call_is_told_at_its_end(root):
    class Editing(Accepting):
        async def ask(self, question):
            return Answer((question.options[0].id,), command="echo other")

    async def hook(event, call):
        is_meant = event == "PreToolUse" and call["tool"] == "Load"
        return HookDecision(arguments={"host": "b"}) if is_meant else HookDecision()

    command = {"command": "touch made", "description": "make it"}
    calls = (ToolCall("1", "Load", {"host": "a"}), ToolCall("2", "ExecuteCommand", command), "done")
    tools = [*builtin_tools(), Load()]
    async with Workspace(root, model=Replies(*calls), tools=tools, editor=Editing(), hooks=[hook]) as workspace:
        ended = [it.event async for it in workspace.session.edit("go") if it.event.kind == "toolFinished"]

    assert [(it.name, it.audit) for it in ended] == [("Load", "hook"), ("ExecuteCommand", "edited")]
    assert ended[0].result == "b is idle"
    assert "echo other" in ended[1].result
    assert not (root / "made").exists()


async def test_all_that_an_agent_and_its_tools_do_is_told_with_session_and_message(root):
    calls = (
        ToolCall("1", "Load", {"host": "a"}),
        ToolCall("2", "Broken", {"host": "a"}),
        "done",
        ModelError("refused"),
    )
    heard = []
    async with Workspace(root, model=Replies(*calls), tools=[Load(), Broken()]) as workspace:
        workspace.subscribe(heard.append)
        first = workspace.session.ask("go")
        await first.outcome()
        second = workspace.session.ask("again")
        await second.outcome()
        session_id = workspace.session.id

    assert {it.session_id for it in heard} == {session_id}
    one, two, three = (f"{first.id}/{MAIN}/{number}" for number in (1, 2, 3))
    told = [(it.event, it.message_id) for it in heard]
    assert [(it.name, of) for it, of in told if it.kind == "toolStarted"] == [("Load", one), ("Broken", two)]
    ended = [(it.name, it.status, of) for it, of in told if it.kind == "toolFinished"]
    assert ended == [("Load", "success", one), ("Broken", "error", two)]
    assert [(it.text, of) for it, of in told if it.kind == "textStreamed"] == [("done", three)]
    assert [(it.text, of) for it, of in told if it.kind == "messageFinished"] == [("", one), ("", two), ("done", three)]
    assert [(it.outcome.turn_id, it.outcome.reason) for it, _ in told if it.kind == "turnFinished"] == [
        *((first.id, "end_turn"), (second.id, "failed"))
    ]


@pytest.mark.parametrize(
    ("options", "answer"),
    [(TurnOptions(), "The model gave no answer."), (TurnOptions(default_answer="Nothing to do."), "Nothing to do.")],
)
async def test_what_is_answered_if_the_model_says_nothing_can_be_said(root, options, answer):
    async with Workspace(root, model=Replies("", "", "words")) as workspace:
        outcome = await workspace.session.ask("hello", options=options).outcome()
        spoken = await workspace.session.ask("hello", options=options).outcome()

    assert (outcome.answer, spoken.answer) == (answer, "words")


async def test_a_turn_that_goes_on_after_a_restart_has_the_options_that_it_had(root, write):
    class Later(DiskEditor):
        async def review(self, review):
            shown.set()

    shown = asyncio.Event()
    core = Core(Project(Told(roots=(root,))), Later(), parts=Parts(model=Replies(write)))
    options = TurnOptions(default_answer="all done", shows_answer=False)
    live = core.sessions.begin()
    live.turns.start(UserMessage(turn_id="t", text="write it", mode="edit_mode", options=options))
    await shown.wait()
    await core.close()

    outcomes = asyncio.Queue()
    core = Core(Project(Told(roots=(root,))), Accepting(), parts=Parts(model=Replies("", "")))
    core.stream.subscribe(
        lambda record: isinstance(record.event, TurnFinished) and outcomes.put_nowait(record.event.outcome)
    )
    await core.restore_reviews()
    told = await outcomes.get()
    record = (await core.sessions.read(live.session.id)).turns[-1]
    await core.close()

    assert (record.turn_id, record.answer_summary) == ("t", "all done")
    assert told.answer == ""
    assert (root / "new.txt").exists()


@pytest.mark.parametrize("may_compact", [True, False])
async def test_a_turn_may_be_kept_from_making_the_conversation_shorter(root, may_compact):
    shortened = []

    async def shorten(messages, tokens):
        shortened.append(messages)
        return [user("a summary"), *messages[-1:]]

    model = Replies("one", "two", ContextTooLong("it does not fit"), "three")
    limits = {"limits": {"maxContext": 20_000, "maxTokens": 1000}}
    async with Workspace(root, model=model, settings=limits, compact=shorten) as workspace:
        session, options = workspace.session, TurnOptions(may_compact=may_compact)
        await session.ask("word " * 12_000, options=options).outcome()
        second = await session.ask("second", options=options).outcome()
        third = await session.ask("third", options=options).outcome()

    assert second.answer == "two"
    assert ("word word" in str(model.requests[1].messages)) is not may_compact
    assert bool(shortened) is may_compact
    assert (third.reason, third.answer) == (("end_turn", "three") if may_compact else ("failed", ""))


@pytest.mark.parametrize("shows_answer", [True, False])
async def test_an_answer_may_be_kept_from_front_ends_and_is_known_to_whoever_asked(root, shows_answer):
    heard = []
    async with Workspace(root, model=Replies(ToolCall("1", "LS", {"path": str(root)}), "secret")) as workspace:
        workspace.subscribe(heard.append)
        session = workspace.session
        outcome = await session.ask("hello", options=TurnOptions(shows_answer=shows_answer)).outcome()
        past = [it async for it in session.events()]
        history = session.history

    assert outcome.answer == history[-1].text == "secret"
    assert ("secret" in str([it.event for it in heard])) is shows_answer
    assert ("secret" in str([it.event for it in past])) is shows_answer
    assert [it.event.kind for it in heard].count("messageFinished") == 2
    assert [it.message_id for it in heard if it.event.kind == "toolFinished"] == [f"{outcome.turn_id}/{MAIN}/1"]
