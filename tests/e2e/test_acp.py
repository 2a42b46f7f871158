"""`odin-lsp acp` behind the protocol's own Python SDK, which checks every message against the schema."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import acp
import pytest
from acp.schema import (
    AcceptElicitationResponse,
    AllowedOutcome,
    ClientCapabilities,
    DeniedOutcome,
    ElicitationCapabilities,
    ElicitationFormCapabilities,
    FileSystemCapabilities,
    ReadTextFileResponse,
    RequestPermissionResponse,
)

from odin_lsp.host.remote import attached
from tests.e2e.conftest import ODIN_LSP, PATIENCE, Screen
from tests.e2e.steps import results, said, says
from tests.e2e.test_agent_calls import decides
from tests.e2e.test_attaching import Person as Attending
from tests.e2e.test_attaching import listens
from tests.support.forking import forked
from tests.support.language_servers import processes_below

LINES = "".join(f"line {number}\n" for number in range(1, 31))
READ = ("Read", {"file_path": "a.py"})
TYPED = "# typed, not saved\n"
EDITS = [{"old_string": f"line {it}\n", "new_string": f"changed {it}\n"} for it in (3, 15, 27)]


class Person:
    """A client that answers as the test says, and keeps what it is told."""

    def __init__(self) -> None:
        self.updates: list[Any] = []
        self.asked: list[Any] = []
        self.choose: Callable[[Any], str | None] = lambda call: "accept"
        self.unsaved: dict[str, str] = {}
        self.agent: Any = None
        self.process: Any = None
        self.changed = asyncio.Event()

    def on_connect(self, conn: Any) -> None:
        pass

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.updates.append(update)
        self.changed.set()

    async def request_permission(
        self, session_id: str, tool_call: Any, options: Any, **_: Any
    ) -> RequestPermissionResponse:
        self.asked.append(tool_call)
        self.changed.set()
        chosen = self.choose(tool_call)
        if chosen == "wait":
            await asyncio.sleep(PATIENCE)
        if chosen is None:
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=chosen))

    async def create_elicitation(self, message: str, mode: Any, **_: Any) -> AcceptElicitationResponse:
        self.asked.append(mode)
        return AcceptElicitationResponse(action="accept", content={"text": "the second one"})

    async def read_text_file(self, session_id: str, path: str, **_: Any) -> ReadTextFileResponse:
        return ReadTextFileResponse(content=self.unsaved.get(path) or Path(path).read_text())

    async def write_text_file(self, session_id: str, path: str, content: str, **_: Any) -> None:
        self.unsaved[path] = content

    def said(self, kind: str = "agent_message_chunk") -> str:
        return "".join(it.content.text for it in self.updates if it.session_update == kind)

    async def until(self, condition: Callable[[], Any]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not condition():
                self.changed.clear()
                await self.changed.wait()


Connect = Callable[..., Any]


@pytest.fixture
def connect(root: Path, anthropic: dict[str, str]) -> Connect:
    (root / "a.py").write_text(LINES)

    @asynccontextmanager
    async def connect(*, fs: bool = False, **other: str) -> AsyncIterator[Person]:
        person = Person()
        command, *arguments = (*forked(ODIN_LSP), "acp")
        env = {**os.environ, **anthropic, **other}
        spawned = acp.spawn_agent_process(person, command, *arguments, env=env, cwd=root, use_unstable_protocol=True)
        async with spawned as (person.agent, person.process):
            abilities = ClientCapabilities(
                fs=FileSystemCapabilities(read_text_file=fs, write_text_file=fs),
                elicitation=ElicitationCapabilities(form=ElicitationFormCapabilities()),
            )
            await person.agent.initialize(acp.PROTOCOL_VERSION, client_capabilities=abilities)
            yield person

    return connect


async def ask(person: Person, session_id: str, text: str, mode: str = "edit") -> str:
    await person.agent.set_config_option("mode", session_id, mode)
    return (await person.agent.prompt(session_id, [acp.text_block(text)])).stop_reason


async def test_a_question_is_answered_and_the_session_is_loaded_by_another_process(connect, root, wire, step):
    step(READ)
    wire.play(says("It has 30 lines."))
    async with connect() as person:
        session = await person.agent.new_session(str(root))
        assert [it.id for it in session.config_options] == ["mode", "model", "effort"]
        assert await ask(person, session.session_id, "how long is it?", "ask") == "end_turn"
        assert person.said() == "It has 30 lines."
        assert "usage_update" in {it.session_update for it in person.updates}
        assert (await person.agent.list_sessions(str(root))).sessions[0].session_id == session.session_id

    wire.play(says("Still 30."))
    async with connect() as person:
        await person.agent.load_session(str(root), session.session_id)
        assert person.said("user_message_chunk") == "how long is it?"
        assert person.said() == "It has 30 lines."
        assert await ask(person, session.session_id, "and now?", "ask") == "end_turn"
    assert "how long is it?" in json.dumps(wire.request["messages"])


async def test_one_of_three_hunks_is_refused_and_the_model_is_told_which(connect, root, wire, step):
    step(READ)
    step(("MultiEditTool", {"file_path": "a.py", "edits": EDITS}))
    wire.play(says())
    async with connect() as person:
        person.choose = lambda call: "reject" if "line 15" in call.title else "accept"
        session = await person.agent.new_session(str(root))
        assert await ask(person, session.session_id, "change them") == "end_turn"

    assert (root / "a.py").read_text() == LINES.replace("line 3\n", "changed 3\n").replace("line 27\n", "changed 27\n")
    assert [it.content[0].type for it in person.asked] == ["diff"] * 3
    [told] = results(wire)
    assert told.startswith("a.py: 2 accepted, 1 rejected.\n- accepted (lines 3, 27)\n- rejected (line 15)")


async def test_what_the_client_has_not_saved_is_read_and_changed_there(connect, root, wire, step):
    step(READ)
    step(("EditTool", {"file_path": "a.py", "old_string": "typed\n", "new_string": "changed\n"}))
    wire.play(says())
    async with connect(fs=True) as person:
        person.unsaved[str(root / "a.py")] = f"typed\n{LINES}"
        session = await person.agent.new_session(str(root))
        await ask(person, session.session_id, "change it")

    assert (root / "a.py").read_text() == LINES
    assert person.unsaved[str(root / "a.py")] == f"changed\n{LINES}"


@pytest.mark.parametrize("multiple", [False, True])
async def test_a_question_of_the_model_is_a_form_with_choices_and_words(connect, root, wire, step, multiple):
    options = [{"label": "one", "description": "the first"}, {"label": "two"}]
    step(("AskUser", {"question": "Which?", "options": options, "multiple": multiple}))
    wire.play(says())
    async with connect() as person:
        session = await person.agent.new_session(str(root))
        await ask(person, session.session_id, "ask me")

    assert len(person.asked) == 1
    assert results(wire) == ["The user answered: the second one"]


async def test_cancel_answers_the_prompt_while_permission_is_open(connect, root, wire, step):
    step(("ExecuteCommand", {"command": "touch made"}))
    async with connect() as person:
        person.choose = lambda call: "wait"
        session = await person.agent.new_session(str(root))
        prompt = asyncio.create_task(ask(person, session.session_id, "make it"))
        await person.until(lambda: person.asked)
        await person.agent.cancel(session.session_id)

        assert await prompt == "cancelled"
        wire.play(says("Back again."))
        assert await ask(person, session.session_id, "and now?", "ask") == "end_turn"
    assert not (root / "made").exists()


@pytest.fixture
async def editor(screen: Screen, connect: Connect, root: Path) -> Screen:
    """It has a document open that is not saved."""
    screen.open(root / "a.py")
    screen.type(root / "a.py", TYPED, 0)
    await listens(root)
    return screen


async def test_where_an_editor_has_the_folder_open_its_text_is_read_and_its_review_decides(
    connect, editor, root, wire, step
):
    step(READ)
    step(("MultiEditTool", {"file_path": "a.py", "edits": EDITS}))
    wire.play(says("Two of three."))
    editor.decide = decides(reject=2)
    mine = (await editor.client.command("session.new"))["sessionId"]
    async with connect(fs=True) as person:
        session = await person.agent.new_session(str(root))
        assert await ask(person, session.session_id, "change them") == "end_turn"
        await person.agent.set_config_option("model", session.session_id, "anthropic/claude-opus-4-8")

    assert person.said() == "Two of three."
    changed = TYPED + LINES.replace("line 3\n", "changed 3\n").replace("line 27\n", "changed 27\n")
    assert (editor.text(root / "a.py"), (root / "a.py").read_text()) == (changed, LINES)
    assert person.asked == []
    hunks = {it.tool_call_id: it.status for it in person.updates if getattr(it, "tool_call_id", "").startswith("hunk-")}
    assert sorted(hunks.values()) == ["completed", "completed", "failed"]
    assert TYPED.strip() in str(wire.request["messages"])
    assert "keep it" in results(wire)[0]
    assert (await editor.client.command("state"))["sessionId"] == mine
    picked = await editor.client.command("model")  # by that session for itself alone
    assert picked["model"] != "anthropic/claude-opus-4-8"


async def test_a_session_goes_to_the_editor_that_is_opened_and_stays_when_that_is_closed(
    connect, start, root, wire, anthropic
):
    wire.play(says("One."), says("Two."), says("Three."), says("Four."))
    async with connect() as person:
        session = (await person.agent.new_session(str(root))).session_id
        client = await start(**anthropic)
        await listens(root)
        for text in ("first", "second"):
            await ask(person, session, text, "ask")
        told = [it["event"]["text"] for it in client.events if it["event"]["kind"] == "turnStarted"]
        await client.leave()
        await ask(person, session, "third", "ask")
    async with connect() as another:
        await another.agent.load_session(str(root), session)
        assert another.said() == "One.Two.Three."
        await ask(another, session, "fourth", "ask")

    assert (told, person.said()) == (["first", "second"], "One.Two.Three.")
    assert said(wire) == ["first", "second", "third", "fourth"]


async def test_a_stored_session_is_loaded_from_the_odin_of_the_editor(connect, editor, root, wire):
    wire.play(says("One."), says("Two."))
    mine = (await editor.client.command("ask", text="first"))["sessionId"]
    async with connect() as person:
        await person.agent.load_session(str(root), mine)
        assert (person.said("user_message_chunk"), person.said()) == ("first", "One.")
        await ask(person, mine, "second", "ask")

    assert said(wire) == ["first", "second"]
    assert (await editor.client.command("state"))["messages"][-1]["answerSummary"] == "Two."


async def test_what_is_asked_in_the_editor_can_be_answered_in_the_client(connect, editor, root, wire, step):
    step(("ExecuteCommand", {"command": "touch made"}))
    wire.play(says())
    editor.client.answers.append(asyncio.Event().wait())
    async with connect() as person:
        person.choose = lambda call: "allow_once"
        session = await person.agent.new_session(str(root), mcp_servers=[])
        await ask(person, session.session_id, "make it")

    assert len(person.asked) == len(editor.client.questions) == 1
    assert (root / "made").exists()


@pytest.mark.parametrize("fs", [False, True])
async def test_an_odin_without_an_editor_is_used_unless_the_client_tells_what_is_not_saved(
    connect, root, wire, step, anthropic, monkeypatch, fs
):
    for name, value in anthropic.items():
        monkeypatch.setenv(name, value)
    step(READ)
    step(("EditTool", {"file_path": "a.py", "old_string": "line 3\n", "new_string": "changed 3\n"}))
    wire.play(says())
    host = await asyncio.create_subprocess_exec(*forked(ODIN_LSP), "host", "run", "--cwd", root)
    await listens(root)
    async with connect(fs=fs) as person:
        session = await person.agent.new_session(str(root))
        await ask(person, session.session_id, "change it")
        async with await attached(root, {}, Attending()) as beside:
            [listed] = (await beside.execute("odin.session.list"))["sessions"]
    host.terminate()
    await host.wait()

    assert "changed 3\n" in (root / "a.py").read_text()
    assert (len(person.asked), listed["locked"]) == (1, fs)


async def test_what_the_odin_of_the_editor_does_not_take_over_is_told(connect, editor, root, wire):
    wire.play(says())
    server = acp.schema.McpServerStdio(name="mine", command="true", args=[], env=[])
    async with connect() as person:
        session = await person.agent.new_session(str(root), mcp_servers=[server])
        await ask(person, session.session_id, "hello", "ask")
        assert "does not use the MCP servers of this client: mine" in person.said("agent_thought_chunk")

    async with connect(ANTHROPIC_API_KEY="sk-ant-another") as person:
        session = await person.agent.new_session(str(root))
        await person.until(lambda: "it has another ANTHROPIC_API_KEY" in person.said("agent_thought_chunk"))


async def test_a_client_that_vanishes_in_mid_turn_ends_it_and_all_that_it_runs(root, step, anthropic):
    step(("ExecuteCommand", {"command": f"touch {root}/began; sleep 600"}))
    async with talking(root, anthropic) as process:
        opened = await asked(process, "session/new", cwd=str(root), mcpServers=[])
        words = [{"type": "text", "text": "run it"}]
        send(process, id=9, method="session/prompt", params={"sessionId": opened["sessionId"], "prompt": words})
        question = await heard(process, lambda it: it.get("method") == "session/request_permission")
        allowed = {"outcome": "selected", "optionId": "allow_once"}
        send(process, id=question["id"], result={"outcome": allowed})
        while not (root / "began").exists():
            await asyncio.sleep(0.05)
        pids = processes_below(process.pid)
        assert len(pids) > 1
        process.stdin.close()
        assert await process.wait() == 0
        while any(Path(f"/proc/{pid}").exists() for pid in pids):
            await asyncio.sleep(0.05)


async def test_garbage_is_answered_and_a_signal_ends_it(root, anthropic):
    async with talking(root, anthropic) as process:
        process.stdin.write(b"garbage\n")
        assert (await heard(process, lambda it: True))["error"]["code"] == -32700
        assert (await asked(process, "session/list", cwd=str(root)))["sessions"] == []
        process.send_signal(signal.SIGTERM)
        assert await process.wait() == 0


@asynccontextmanager
async def talking(root: Path, env: dict[str, str]) -> AsyncIterator[Any]:
    """The process itself, without the SDK."""
    process = await asyncio.create_subprocess_exec(
        *ODIN_LSP, "acp", stdin=-1, stdout=-1, env={**os.environ, **env}, cwd=root
    )
    async with asyncio.timeout(PATIENCE):
        await asked(process, "initialize", protocolVersion=1)
        yield process
    if process.returncode is None:
        process.kill()
        await process.wait()


def send(process: Any, **message: Any) -> None:
    process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")


async def heard(process: Any, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    while not wanted(message := json.loads(await process.stdout.readline())):
        pass
    return message


async def asked(process: Any, method: str, **params: Any) -> Any:
    send(process, id=method, method=method, params=params)
    return (await heard(process, lambda it: it.get("id") == method))["result"]
