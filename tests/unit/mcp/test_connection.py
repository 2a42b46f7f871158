"""One server, from its start to its end."""

import asyncio
import json
import os
import signal
import sys

import pytest

from odin_lsp.config import McpSettings
from odin_lsp.errors import ToolError
from odin_lsp.extensions.mcp_files import McpServer
from odin_lsp.mcp.connection import Around, Connection
from odin_lsp.mcp.values import Definition, Form
from tests.support.language_servers import own_processes, processes_below
from tests.support.mcp_servers import Asked, scripted


@pytest.fixture
async def connect(tmp_path):
    before, made = own_processes(), []

    async def connect(server, asked=None, **settings):
        around = Around((tmp_path,), McpSettings.model_validate({"timeout": 20, **settings}))
        asked = asked or Asked(tmp_path)
        connection = Connection(server, around, asked.host, asked.listed, asked.reasons.append)
        connection.asked = asked
        made.append(connection)
        await connection.start(30)
        return connection

    yield connect
    for it in made:
        await it.end()
    assert own_processes() <= before


def nothing(_):
    pass


async def test_a_server_of_the_older_protocol_says_what_it_has_and_answers(connect, tmp_path):
    tools = [{"name": "echo", "description": "Say it again.", "inputSchema": {"type": "object"}}]
    connection = await connect(scripted(tmp_path, {"tools": tools}))

    answered = await connection.call("echo", {"text": "hello"}, nothing)

    assert connection.asked.tools == (Definition("echo", "Say it again.", {"type": "object"}),)
    assert (answered.text, answered.failed) == ('{"text": "hello"}', False)
    assert connection.version == "2025-11-25"


async def test_a_real_server_of_the_newer_protocol_answers(connect):
    connection = await connect(
        McpServer(name="time", transport="stdio", command=sys.executable, args=("-m", "mcp_server_time"))
    )

    answered = await connection.call("get_current_time", {"timezone": "Asia/Tokyo"}, nothing)

    assert connection.version == "2026-07-28"
    assert json.loads(answered.text)["timezone"] == "Asia/Tokyo"


async def test_a_server_gets_what_its_entry_names_and_what_every_program_needs(connect, tmp_path, monkeypatch):
    monkeypatch.setenv("SECRET_TOKEN", "s3cret")
    monkeypatch.setenv("EDITOR", "vi")
    monkeypatch.setenv("WANTED", "this")
    server = scripted(tmp_path, {"call:echo": [{"environment": 1}]}, env={"GIVEN": "${WANTED} and ${OTHER:-that}"})
    connection = await connect(server)

    got = json.loads((await connection.call("echo", {}, nothing)).text)

    assert got["GIVEN"] == "this and that"
    assert got["HOME"] == os.environ["HOME"]
    assert not {"SECRET_TOKEN", "EDITOR", "WANTED"} & set(got)
    assert "s3cret" not in str(got)


async def test_how_far_a_call_has_come_is_told(connect, tmp_path):
    acts = [{"progress": {"progress": 1, "total": 2, "message": "halfway"}}, {"text": "done"}]
    connection = await connect(scripted(tmp_path, {"call:echo": acts}))
    told = []

    answered = await connection.call("echo", {}, told.append)

    assert (answered.text, told) == ("done", ["halfway (1 of 2)"])


async def test_ten_thousand_news_of_a_call_are_told_as_a_few_and_its_answer_comes(connect, tmp_path):
    connection = await connect(scripted(tmp_path, {"call:echo": [{"progresses": 10_000}, {"text": "done"}]}))
    told = []

    answered = await connection.call("echo", {}, told.append)

    assert (answered.text, told[-1]) == ("done", "10000 of 10000")
    assert len(told) < 1000


async def test_a_server_is_told_the_folders_and_may_ask(connect, tmp_path):
    asking = {"message": "Which?", "requestedSchema": {"type": "object", "properties": {"a": {"type": "string"}}}}
    asked = Asked(tmp_path)
    asked.answers.append(("accept", {"a": "b"}))
    connection = await connect(scripted(tmp_path, {"call:where": [{"roots": 1}], "call:ask": [{"ask": asking}]}), asked)

    where = json.loads((await connection.call("where", {}, nothing)).text)
    said = json.loads((await connection.call("ask", {}, nothing)).text)

    assert [it["uri"] for it in where["result"]["roots"]] == [tmp_path.as_uri()]
    assert asked.questions == [Form("Which?", {"a": {"type": "string"}})]
    assert said["result"] == {"action": "accept", "content": {"a": "b"}}


async def test_one_that_changes_its_tools_says_so(connect, tmp_path):
    asked = Asked(tmp_path)
    connection = await connect(
        scripted(tmp_path, {"call:echo": [{"tools": [{"name": "other"}]}, {"text": "done"}]}), asked
    )

    await connection.call("echo", {}, nothing)
    await connection.look(20)

    assert asked.changes == ["tools"]
    assert [it.name for it in asked.tools] == ["other"]


async def test_one_that_is_killed_in_a_call_is_told_of_and_leaves_nothing(connect, tmp_path):
    connection = await connect(scripted(tmp_path, {"call:echo": [{"message": {"method": "notifications/x"}}]}))
    call = asyncio.create_task(connection.call("echo", {}, nothing))
    await asyncio.sleep(0)
    for pid in processes_below(connection.pid):
        os.kill(pid, signal.SIGKILL)

    with pytest.raises(ToolError, match="scripted has"):
        await call
    while not connection.asked.reasons:
        await asyncio.sleep(0.01)
    with pytest.raises(ToolError, match="scripted has stopped with code -9"):
        await connection.call("echo", {}, nothing)


CANNOT_START = {
    "no program": (McpServer(name="x", transport="stdio", command="not-there"), "not-there is not found"),
    "a variable that is not set": (
        McpServer(name="x", transport="stdio", command="${NOT_SET}"),
        "the variable NOT_SET is not set",
    ),
    "nobody there": (McpServer(name="x", transport="http", url="http://127.0.0.1:1/mcp"), "x refuses: "),
    "ends at once": (McpServer(name="x", transport="stdio", command="/bin/false"), "x has stopped with code 1"),
}


@pytest.mark.parametrize("case", CANNOT_START)
async def test_why_one_cannot_be_used_is_told(connect, case):
    server, said = CANNOT_START[case]

    with pytest.raises(ToolError, match=said):
        await connect(server)
