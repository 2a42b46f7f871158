"""Sessions over processes: listed, resumed, forked, exported, killed; in an editor and in a terminal."""

import asyncio
import json
import os
import sys
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path

import pytest

from odin_lsp.sessions.history import UNKNOWN_OUTCOME
from odin_lsp.sessions.recording import PASSING
from odin_lsp.workspace.uris import path_of
from tests.e2e.steps import results, says
from tests.support import strict
from tests.support import wire as kit
from tests.support.forking import forked

COMMAND = [sys.executable, "-m", "odin_lsp"]
PATIENCE = 60


class Server:
    """A server that may be killed, which pytest-lsp does not forgive."""

    def __init__(self, process):
        self.process = process
        self.events = []
        self.messages = []
        self.questions = 0
        self.changed = asyncio.Event()
        self._ids = count(1)
        self._answers = {}
        self._reading = asyncio.create_task(self._read())

    async def command(self, name, /, **argument):
        return await self.request("workspace/executeCommand", {"command": f"odin.{name}", "arguments": [argument]})

    async def request(self, method, params=None):
        number = next(self._ids)
        self._answers[number] = asyncio.get_running_loop().create_future()
        self.send({"id": number, "method": method, "params": params})
        async with asyncio.timeout(PATIENCE):
            return await self._answers[number]

    async def until(self, condition):
        async with asyncio.timeout(PATIENCE):
            while not condition():
                self.changed.clear()
                await self.changed.wait()

    def kinds(self):
        return [record["event"]["kind"] for record in self.events]

    def send(self, message):
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)

    async def end(self):
        if self.process.returncode is None:
            self.process.terminate()
        await self._ended()

    async def kill(self):
        self.process.kill()
        await self._ended()

    async def _ended(self):
        await self.process.wait()
        await self._reading

    async def _read(self):
        try:
            while True:
                head = await self.process.stdout.readuntil(b"\r\n\r\n")
                self._take(json.loads(await self.process.stdout.readexactly(int(head.split(b":")[1].split()[0]))))
                self.changed.set()
        except asyncio.IncompleteReadError:
            for answer in self._answers.values():
                answer.cancel()

    def _take(self, message):
        match message:
            case {"method": "odin/event", "params": record}:
                self.events.append(record)
            case {"method": "window/showMessage", "params": {"message": text}}:
                self.messages.append(text)
            case {"method": "odin/question", "id": number}:
                self.questions += 1
                self.send({"id": number, "result": {"optionIds": ["allow_once"]}})
            case {"method": _, "id": number}:
                self.send({"id": number, "result": None})
            case {"id": number, "result": result}:
                self._answers.pop(number).set_result(result)
            case {"id": number, "error": error}:
                self._answers.pop(number).set_exception(RuntimeError(error["message"]))


@pytest.fixture
def serve(root, anthropic):
    """A server for the workspace, as long as the block lasts."""

    @asynccontextmanager
    async def serve(odin=None, **env):
        process = await asyncio.create_subprocess_exec(
            *forked(COMMAND),
            stdin=-1,
            stdout=-1,
            cwd=root,
            env={**os.environ, **anthropic, **env},
            limit=2**24,
        )
        server = Server(process)
        capabilities = {
            "experimental": {"odin": {"version": 1, "events": True, "question": True} if odin is None else odin}
        }
        params = {"processId": os.getpid(), "rootUri": root.as_uri(), "capabilities": capabilities}
        try:
            await server.request("initialize", params)
            server.send({"method": "initialized", "params": {}})
            yield server
        finally:
            await server.end()

    return serve


@pytest.fixture
def run(root, anthropic):
    async def run(*arguments):
        process = await asyncio.create_subprocess_exec(
            *forked(COMMAND), *arguments, stdin=-3, stdout=-1, stderr=-1, cwd=root, env={**os.environ, **anthropic}
        )
        async with asyncio.timeout(PATIENCE):
            out, err = await process.communicate()
        return process.returncode, out.decode(), err.decode()

    return run


def asked(wire):
    return [block["text"] for message in wire.request["messages"] for block in message["content"] if "text" in block]


async def test_sessions_over_lsp(serve, wire, root):
    wire.play(*(says(f"answer {number}") for number in range(5)))
    async with serve() as server:
        first = await server.command("ask", text="where is the lexer?")
        await server.command("ask", text="and the parser?")
        new = await server.command("session.new", title="Other work")
        second = await server.command("ask", text="hello")
        assert second["sessionId"] == new["sessionId"] != first["sessionId"]
    async with serve() as server:
        listed = (await server.command("session.list"))["sessions"]
        assert [(it["title"], it["messages"], it["locked"]) for it in listed] == [
            ("Other work", 1, False),
            ("where is the lexer?", 2, False),
        ]
        found = (await server.command("session.list", query="PARSER"))["sessions"]
        assert [(it["sessionId"], it["excerpt"]) for it in found] == [(first["sessionId"], "and the parser?")]

        resumed = await server.command("session.resume", sessionId=first["sessionId"])
        assert resumed["firstMessage"] == "where is the lexer?"
        assert server.kinds() == ["sessionSwitchStarted", "sessionRestored"]
        assert len((await server.command("state"))["messages"]) == 2
        await server.command("ask", text="go on")
        assert asked(wire)[2] == "where is the lexer?"
        assert "answer 1" in asked(wire)

        forked = await server.command("session.fork", message=1)
        assert (forked["draft"], forked["forkedFrom"], forked["messages"]) == ("and the parser?", first["sessionId"], 1)
        await server.command("ask", text="and the printer?")
        assert "answer 0" in asked(wire)
        assert "answer 1" not in asked(wire)
        assert strict.problems(wire.request) == []

        renamed = await server.command("session.rename", title="On printers")
        assert (renamed["sessionId"], renamed["title"]) == (forked["sessionId"], "On printers")
        await server.command("session.rename", sessionId=new["sessionId"], title="Old work")
        titles = [it["title"] for it in (await server.command("session.list"))["sessions"]]
        assert sorted(titles) == ["Old work", "On printers", "where is the lexer?"]

        for kind, start in (("markdown", "# On printers"), ("html", "<!doctype html>"), ("json", '{"version":1')):
            exported = await server.command("session.export", format=kind)
            assert path_of(exported["uri"]).read_text().startswith(start)
        await server.command("session.export", sessionId=first["sessionId"], path="mine.md")
        assert "and the parser?" in (root / "mine.md").read_text()

        with pytest.raises(RuntimeError, match="confirm"):
            await server.command("session.delete", sessionId=first["sessionId"])
        await server.command("session.delete", sessionId=first["sessionId"], confirm=True)
        with pytest.raises(RuntimeError, match="there is no session"):
            await server.command("session.resume", sessionId=first["sessionId"])
        assert len((await server.command("session.list"))["sessions"]) == 2


async def test_the_transcript_of_a_resumed_session_is_what_it_was(serve, wire, step, root):
    step(("Read", {"file_path": str(root / "greet.py")}))
    wire.play(says("It greets. ![x](https://evil.test/x.png)"), says("two"))
    async with serve(odin={}) as server:
        outcome = await server.command("ask", text="what does it do?")
        await server.command("plan", text="then plan")
        listed = (await server.command("session.list"))["sessions"][0]
        path = path_of(listed["uri"])
        before = path.read_text()
        path.unlink()
    async with serve() as server:
        resumed = await server.command("session.resume", sessionId=outcome["sessionId"])

    assert path_of(resumed["uri"]).read_text() == before
    assert "1 tool<" in before
    assert "![x]" not in before


async def test_ses_06_two_servers_on_one_session_never_write_into_each_other(serve, wire):
    wire.play(*(says(f"answer {number}") for number in range(4)))
    async with serve() as one, serve() as two:
        first = await one.command("ask", text="begin")
        mine = await two.command("ask", text="meanwhile", sessionId=first["sessionId"])
        await one.command("ask", text="go on")
        again = await two.command("ask", text="and more", sessionId=first["sessionId"])

        assert mine["sessionId"] == again["sessionId"] != first["sessionId"]
        assert any("open in another Odin" in it for it in two.messages)
        [original] = [
            it for it in (await two.command("session.list"))["sessions"] if it["sessionId"] == first["sessionId"]
        ]
        assert original["locked"]
        log = path_of(original["uri"]).with_suffix(".jsonl")
        fork = log.with_name(f"{mine['sessionId']}.jsonl")

    def bodies(path: Path):
        records = [json.loads(line) for line in path.read_text().splitlines()]
        return [it["turn"]["body"] for it in records if it["type"] == "turn"]

    assert bodies(log) == ["begin", "go on"]
    assert bodies(fork) == ["begin", "meanwhile", "and more"]


@pytest.mark.parametrize("after", [0, 1, 2])
async def test_ses_04_a_killed_server_leaves_a_session_that_goes_on(serve, wire, step, root, after):
    """Killed while the model speaks, in its first, second or third step."""
    for _ in range(after):
        step(("Read", {"file_path": str(root / "greet.py")}), ("LS", {"path": str(root)}))
    wire.play(kit.Answer([kit.anthropic_sse(kit.anthropic_start(), *kit.anthropic_text(0, "I was"))], held=True))
    async with serve() as server:
        turn = asyncio.create_task(server.command("ask", text="look around"))
        await server.until(lambda: "textStreamed" in server.kinds())
        session = server.events[0]["sessionId"]
        await server.kill()
        with pytest.raises(asyncio.CancelledError):
            await turn
    wire.play(says("I am back"))
    async with serve() as server:
        outcome = await server.command("ask", text="go on", sessionId=session)

    assert outcome["answer"] == "I am back"
    assert strict.problems(wire.request) == []
    assert {"look around", "go on"} < set(asked(wire))
    blocks = [block for message in wire.request["messages"] for block in message["content"]]
    assert sum(block["type"] == "tool_result" for block in blocks) == 2 * after


async def test_c_123_a_server_that_is_killed_in_a_turn_loses_no_todos(serve, wire, step):
    todos = [{"id": "1", "content": "look", "status": "in_progress"}]
    step(("TodoWrite", {"todos": todos}))
    wire.play(kit.Answer([kit.anthropic_sse(kit.anthropic_start(), *kit.anthropic_text(0, "I was"))], held=True))
    async with serve() as server:
        turn = asyncio.create_task(server.command("ask", text="look around"))
        await server.until(lambda: "textStreamed" in server.kinds())
        session = server.events[0]["sessionId"]
        await server.kill()
        await asyncio.gather(turn, return_exceptions=True)
    async with serve() as server:
        await server.command("session.resume", sessionId=session)

        assert (await server.command("state"))["todos"] == todos


async def test_nothing_that_was_said_is_lost_when_the_server_dies(serve, wire, root):
    wire.play(kit.Answer([kit.anthropic_sse(kit.anthropic_start(), *kit.anthropic_text(0, "I was"))], held=True))
    async with serve() as server:
        begun = asyncio.create_task(server.command("ask", text="look around", turnId="begun"))
        await server.until(lambda: "textStreamed" in server.kinds())
        session = server.events[0]["sessionId"]
        names = ("first", "second", "third")
        waiting = [asyncio.create_task(server.command("plan", text=f"the {it}", turnId=it)) for it in names]
        await server.until(lambda: server.kinds().count("turnQueued") == 3)
        await server.command("queue", action="remove", turnId="first")
        await server.command("queue", action="edit", turnId="third", text="the third, *changed*", mode="ask_mode")
        await server.kill()
        await asyncio.gather(begun, *waiting, return_exceptions=True)
    wire.play(says("I am back"))
    async with serve() as server:
        summary = await server.command("session.resume", sessionId=session)
        cut_off = (await server.command("state"))["messages"]
        transcript = path_of(summary["uri"]).read_text()
        told = list(server.messages)
        await server.command("ask", text="go on")
        await server.command("session.resume", sessionId=session)
        after = path_of(summary["uri"]).read_text()

    assert [(it["turnId"], it["body"], it["reason"]) for it in cut_off] == [("begun", "look around", "aborted")]
    assert summary["messages"] == 1
    assert "> look around\n\n*cut off: Odin was ended*" in transcript
    assert [line for line in transcript.splitlines() if line.startswith("> the")] == [
        "> the second",
        "> the third, *changed*",
    ]
    assert transcript.count("*not begun: Odin was ended before*") == 2
    assert [
        text.rpartition(": ")[2] for text in told if "Odin stopped before it could work on this message" in text
    ] == [
        "the second",
        "the third, *changed*",
    ]
    assert "the second" not in after
    assert "> look around" in after


async def test_ses_12_a_command_that_was_running_when_the_server_died_is_not_run_again(serve, wire, step, root):
    step(("ExecuteCommand", {"command": "echo ran >> ran.txt && sleep 600", "description": "run"}))
    async with serve() as server:
        turn = asyncio.create_task(server.command("edit", text="run it"))
        while not (root / "ran.txt").exists():
            await asyncio.sleep(0.02)
            assert not turn.done()
        session = server.events[0]["sessionId"]
        await server.kill()
        with pytest.raises(asyncio.CancelledError):
            await turn
    wire.play(says("I shall look"))
    async with serve() as server:
        await server.command("edit", text="go on", sessionId=session)

    results = [
        block["content"]
        for message in wire.request["messages"]
        for block in message["content"]
        if block["type"] == "tool_result"
    ]
    assert results == [UNKNOWN_OUTCOME]
    assert strict.problems(wire.request) == []
    assert (root / "ran.txt").read_text() == "ran\n"


async def test_ses_12_what_a_helper_found_before_the_server_died_is_not_searched_again(serve, wire, step):
    def reply(request):
        match request["messages"][0]["content"][-1]["text"]:
            case "one":
                return says("it is in the lexer")
            case "two":
                return kit.Answer([kit.anthropic_sse(kit.anthropic_start())], held=True)
            case _:
                return None

    wire.reply_to = reply
    step(*(("AgentTool", {"description": f"part {name}", "prompt": name}) for name in ("one", "two")))
    async with serve() as server:
        turn = asyncio.create_task(server.command("ask", text="have it looked at"))
        await server.until(lambda: "subagentFinished" in server.kinds())
        session = server.events[0]["sessionId"]
        await server.kill()
        with pytest.raises(asyncio.CancelledError):
            await turn
    wire.play(says("I shall look"))
    async with serve() as server:
        await server.command("ask", text="go on", sessionId=session)
        cost = (await server.command("context", sessionId=session))["spent"]["outputTokens"]

    unknown, known = results(wire)
    assert "had completed before Odin was ended" in known
    assert "it is in the lexer" in known
    assert unknown == UNKNOWN_OUTCOME
    assert strict.problems(wire.request) == []
    assert cost == 3 * kit.anthropic_end("end_turn")[0]["usage"]["output_tokens"]


async def test_ses_08_approvals_and_mode_end_with_the_process(serve, wire, step, root):
    step(("ExecuteCommand", {"command": "echo one > one.txt", "description": "run"}))
    wire.play(says("done"))
    async with serve() as server:
        outcome = await server.command("edit", text="run it")
    async with serve() as server:
        await server.command("session.resume", sessionId=outcome["sessionId"])
        assert (await server.command("state"))["mode"] == "ask_mode"
        step(("ExecuteCommand", {"command": "echo one > one.txt", "description": "run"}))
        wire.play(says("done"))
        await server.command("edit", text="again")

        assert server.questions == 1


async def test_what_is_shown_is_what_is_sent(serve, wire, step, root):
    step(("Read", {"file_path": str(root / "greet.py")}))
    wire.play(says("one"), says("two"))
    async with serve() as server:
        await server.command("ask", text="first")
        seen = await server.command("context", text="second")
        await server.command("ask", text="second")

    sent = wire.request
    assert [it["name"] for it in seen["parts"] if it["kind"] == "tool"] == [it["name"] for it in sent["tools"]]
    assert [it["content"] for it in seen["parts"] if it["kind"] == "system"] == [it["text"] for it in sent["system"]]
    shown = [
        part["text"]
        for it in seen["parts"]
        if it["kind"] == "message"
        for part in json.loads(it["content"])
        if "text" in part
    ]
    assert shown == asked(wire)
    assert seen["model"] == "anthropic/claude-sonnet-5-5"
    assert seen["costUsd"] > seen["switchedCostUsd"] > seen["cachedCostUsd"] > 0
    assert seen["spent"]["outputTokens"] > 0


async def test_the_small_model_names_a_session_beside_everything_else(serve, wire):
    wire.play(says("The lexer is in lex.py."), says("Finding the lexer"))
    async with serve(ODIN_TITLES="1") as server:
        await server.command("ask", text="where is it?")
        await server.until(lambda: "sessionRenamed" in server.kinds())
        [listed] = (await server.command("session.list"))["sessions"]

    assert listed["title"] == "Finding the lexer"
    assert wire.request["model"] == "claude-haiku-5-5"
    assert "tools" not in wire.request


async def test_keys_are_not_stored(serve, wire):
    wire.play(says("one"))
    async with serve() as server:
        await server.command("ask", text="first")
        [listed] = (await server.command("session.list"))["sessions"]

    folder = path_of(listed["uri"]).parent
    assert all(kit.KEY.encode() not in path.read_bytes() for path in folder.rglob("*") if path.is_file())


async def test_sessions_in_a_terminal(run, wire, tmp_path):
    wire.play(says("In lex.py."), says("In parse.py."))
    await run("ask", "where is the lexer?")
    _, listed, _ = await run("sessions", "list")
    session = listed.split()[0]
    await run(
        "ask", "and the parser?", "--session", json.loads((await run("sessions", "list", "--json"))[1])[0]["sessionId"]
    )

    assert "where is the lexer?" in listed
    code, shown, _ = await run("sessions", "show", session)
    assert code == 0
    assert shown.startswith("# where is the lexer?\n")
    assert "In parse.py." in shown
    assert (await run("sessions", "search", "PARSE.PY"))[1].split()[0] == session
    assert (await run("sessions", "search", "nowhere"))[1] == ""
    assert (await run("sessions", "rename", session, "On", "lexers"))[0] == 0
    _, copy, left_out = await run("sessions", "fork", session, "--message", "1")
    assert "and the parser?" in left_out
    both = json.loads((await run("sessions", "list", "--json"))[1])
    assert sorted((it["title"], it["messages"]) for it in both) == [("On lexers", 1), ("On lexers", 2)]
    place = tmp_path / "out.html"
    assert (await run("sessions", "export", session, "--format", "html", "--output", str(place)))[0] == 0
    assert "In lex.py." in place.read_text()
    assert json.loads((await run("sessions", "export", session, "--format", "json"))[1])["version"] == 1

    code, _, err = await run("sessions", "delete", copy.strip())
    assert (code, "--yes" in err) == (2, True)
    assert (await run("sessions", "delete", copy.strip(), "--yes"))[0] == 0
    code, _, err = await run("sessions", "show", copy.strip())
    assert (code, "there is no session" in err) == (1, True)
    assert (await run("sessions", "show", "../../etc"))[0] == 1
    assert len(json.loads((await run("sessions", "list", "--json"))[1])) == 1


def settled(records, turn_id):
    """Without what differs by nature: when it came, its place in a stream, and the result of a call, which the
    conversation has."""
    return [
        (it["agentId"], {name: value for name, value in it["event"].items() if name != "result"})
        for it in records
        if it["turnId"] == turn_id and it["event"]["kind"] not in PASSING
    ]


async def test_who_opens_a_session_later_is_told_what_those_were_told_who_were_there(serve, wire, step, root):
    step(("Read", {"file_path": str(root / "greet.py")}), ("ExecuteCommand", {"command": "echo one"}))
    wire.play(says("It greets."))
    sent = {"kind": "file", "uri": (root / "greet.py").as_uri()}
    async with serve() as server:
        outcome = await server.command("ask", text="what does it do?", turnId="t", context=[sent])
        live = settled(server.events, "t")
        page = await server.command("session.events")
        last = server.events[-1]["seq"]
    async with serve() as server:
        await server.command("session.resume", sessionId=outcome["sessionId"])
        again = await server.command("session.events")

    assert settled(page["events"], "t") == settled(again["events"], "t") == live
    assert (page["seq"], page["earlierTurns"], page.get("before")) == (last, 0, None)
    assert [it["kind"] for _, it in live][:1] == ["turnStarted"]
    assert [it["context"] for _, it in live if it["kind"] == "turnStarted"] == [[sent]]
    assert [it["output"] for _, it in live if it["kind"] == "toolFinished"] == ["", "one\n"]


async def test_a_turn_that_the_server_died_in_goes_on_and_nothing_is_said_or_read_again(serve, wire, step, root):
    step(("Read", {"file_path": str(root / "greet.py")}))
    wire.play(kit.Answer([kit.anthropic_sse(kit.anthropic_start(), *kit.anthropic_text(0, "I was"))], held=True))
    async with serve() as server:
        begun = asyncio.create_task(server.command("ask", text="look around", turnId="begun"))
        await server.until(lambda: "textStreamed" in server.kinds())
        session = server.events[0]["sessionId"]
        await server.kill()
        await asyncio.gather(begun, return_exceptions=True)
    wire.play(says("It greets."))
    async with serve() as server:
        await server.command("session.resume", sessionId=session)
        before = (await server.command("session.events"))["events"]
        outcome = await server.command("continue")
        after = (await server.command("session.events"))["events"]

    assert [it["event"]["outcome"]["reason"] for it in before if it["event"]["kind"] == "turnFinished"] == ["aborted"]
    assert (outcome["turnId"], outcome["reason"], outcome["answer"]) == ("begun", "end_turn", "It greets.")
    assert [it["event"]["kind"] for it in after].count("turnStarted") == 2
    said = [block for message in wire.request["messages"] for block in message["content"]]
    assert sum("look around" in block.get("text", "") for block in said) == 1
    assert [block["type"] for block in said if block["type"].startswith("tool")] == ["tool_use", "tool_result"]
