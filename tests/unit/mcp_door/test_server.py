"""What an agent of others can read and propose by MCP, and what it is told."""

import asyncio
import json

import pytest

from odin_lsp.mcp_door.server import Server

LINES = "".join(f"line {number}\n" for number in range(1, 31))
EDITS = [{"old_string": f"line {it}\n", "new_string": f"changed {it}\n"} for it in (3, 15, 27)]


class Agent:
    """It calls tools, and asks its user what it is asked."""

    def __init__(self, root):
        self.server = Server(root, self._sent)
        self.asked = []
        self.choose = lambda message: {"action": "accept", "content": {"decision": "accept"}}
        self._answers = {}
        self._tasks = set()

    async def ask(self, method, **params):
        number = len(self._answers) + 1
        self._answers[number] = asyncio.get_running_loop().create_future()
        self.says(id=number, method=method, params=params)
        async with asyncio.timeout(30):
            message = await self._answers[number]
        return message.get("result", message.get("error"))

    def says(self, **message):
        self.server.receive(json.dumps({"jsonrpc": "2.0", **message}).encode())

    async def hello(self, *, elicitation=True, version="2025-06-18"):
        capabilities = {"elicitation": {}} if elicitation else {}
        info = {"name": "some agent", "version": "1"}
        return await self.ask("initialize", protocolVersion=version, capabilities=capabilities, clientInfo=info)

    async def call(self, name, **arguments):
        result = await self.ask("tools/call", name=name, arguments=arguments)
        return result["content"][0]["text"], result["isError"]

    def _sent(self, body):
        match json.loads(body):
            case {"method": "elicitation/create", "id": number, "params": params}:
                self.asked.append(params)
                task = asyncio.create_task(self._answer(number, params["message"]))
                self._tasks.add(task)
            case {"id": number} as message:
                self._answers[number].set_result(message)

    async def _answer(self, number, message):
        chosen = self.choose(message)
        self.says(id=number, result=await chosen if asyncio.isfuture(chosen) else chosen)


@pytest.fixture
def root(tmp_path):
    root = tmp_path / "workspace"
    root.mkdir()
    (root / "a.py").write_text(LINES)
    (root / ".env").write_text("TOKEN=hush\n")
    return root


@pytest.fixture
async def agent(root):
    agent = Agent(root)
    yield agent
    await agent.server.close()


@pytest.mark.parametrize(
    ("said", "answered"), [("2025-06-18", "2025-06-18"), ("2025-11-25", "2025-11-25"), ("1999-01-01", "2025-11-25")]
)
async def test_the_version_of_the_agent_is_spoken_if_it_is_known(agent, said, answered):
    about = await agent.hello(version=said)

    assert about["protocolVersion"] == answered
    assert "never with other edit" in about["instructions"]


async def test_tools_are_listed_and_others_are_refused(agent):
    await agent.hello()

    tools = (await agent.ask("tools/list"))["tools"]
    refused = await agent.ask("tools/call", name="ExecuteCommand", arguments={"command": "ls"})

    assert {"Read", "Grep", "EditTool", "WriteFile"} <= {it["name"] for it in tools}
    assert {it["name"] for it in tools if it["annotations"]["readOnlyHint"]} == {"Glob", "Grep", "LS", "Lookup", "Read"}
    assert refused["code"] == -32602
    assert (await agent.ask("server/discover"))["code"] == -32601


async def test_files_are_read_and_searched_by_the_same_rules(agent):
    await agent.hello()

    text, failed = await agent.call("Read", file_path="a.py")
    found, _ = await agent.call("Grep", pattern="line 15")
    hidden, was_refused = await agent.call("Read", file_path=".env")

    assert ("line 30" in text, failed) == (True, False)
    assert "a.py" in found
    assert ("hush" in hidden, was_refused) == (False, True)


async def test_an_edit_of_three_hunks_is_reviewed_and_the_receipt_is_its_result(agent, root):
    agent.choose = lambda message: (
        {"action": "accept", "content": {"decision": "reject", "reason": "keep it"}}
        if "changed 15" in message
        else {"action": "accept", "content": {"decision": "accept"}}
    )
    await agent.hello()
    await agent.call("Read", file_path="a.py")

    told, failed = await agent.call("MultiEditTool", file_path="a.py", edits=EDITS)

    assert (root / "a.py").read_text() == LINES.replace("line 3\n", "changed 3\n").replace("line 27\n", "changed 27\n")
    assert told.startswith("a.py: 2 accepted, 1 rejected.")
    assert "keep it" in told
    assert not failed
    assert [f"({number} of 3)" in it["message"] for number, it in enumerate(agent.asked, 1)] == [True] * 3
    assert "-line 15\n+changed 15" in agent.asked[1]["message"]


@pytest.mark.parametrize(
    ("answer", "count", "asked"),
    [
        ({"action": "accept", "content": {"decision": "accept the rest of this file"}}, 3, 1),
        ({"action": "accept", "content": {"decision": "reject the rest of this file"}}, 0, 1),
        ({"action": "decline"}, 0, 3),
        ({"action": "cancel"}, 0, 3),
        ({"action": "accept", "content": {"decision": "whatever"}}, 0, 3),
        (None, 0, 3),
    ],
)
async def test_only_a_yes_is_a_yes(agent, root, answer, count, asked):
    agent.choose = lambda message: answer
    await agent.hello()
    await agent.call("Read", file_path="a.py")

    await agent.call("MultiEditTool", file_path="a.py", edits=EDITS)

    assert ((root / "a.py").read_text().count("changed"), len(agent.asked)) == (count, asked)


async def test_where_nobody_can_be_asked_nothing_is_changed(agent, root):
    await agent.hello(elicitation=False)
    await agent.call("Read", file_path="a.py")

    told, failed = await agent.call("WriteFile", file_path="new.py", content="x\n")

    assert failed
    assert "nobody can review it" in told
    assert "do not make the same edit again" not in told
    assert not (root / "new.py").exists()


async def test_the_users_own_policy_does_not_let_others_through(agent, root, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "config" / "odin").mkdir(parents=True)
    (tmp_path / "config" / "odin" / "odinconfig.json").write_text('{"review": {"policy": "auto"}}')
    await agent.hello(elicitation=False)

    await agent.call("WriteFile", file_path="new.py", content="x\n")

    assert not (root / "new.py").exists()


async def test_what_the_project_plugs_in_is_not_started(agent, root, tmp_path):
    began = tmp_path / "began"
    server = {"command": "touch", "args": [str(began)]}
    (root / ".mcp.json").write_text(json.dumps({"mcpServers": {"odin": server}}))
    await agent.hello()

    await agent.call("Read", file_path="a.py")

    assert not began.exists()


async def test_a_call_that_is_given_up_is_ended_and_the_next_is_made(agent, root):
    never = asyncio.get_running_loop().create_future()
    agent.choose = lambda message: never
    await agent.hello()
    writing = asyncio.create_task(agent.call("WriteFile", file_path="new.py", content="x\n"))
    async with asyncio.timeout(30):
        while not agent.asked:
            await asyncio.sleep(0)
    agent.says(method="notifications/cancelled", params={"requestId": 2})

    with pytest.raises(KeyError):
        await writing
    never.cancel()
    assert "line 1" in (await agent.call("Read", file_path="a.py"))[0]
    assert not (root / "new.py").exists()
