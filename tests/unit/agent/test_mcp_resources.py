"""Resources of MCP servers: where there are some the model lists and reads them, and the user decides on each."""

import asyncio
import json

import pytest

from odin_lsp.config import RuleSettings
from odin_lsp.events import ToolFinished
from odin_lsp.modes import MODES
from odin_lsp.permissions.foreign_names import resources_name
from odin_lsp.ports import Answer
from tests.support.mcp_servers import allowing

ONCE = Answer(("allow_once",))
BOTH = {"ListMcpResources", "ReadMcpResource"}
MEMO = {"uri": "memo://one", "name": "one", "description": "The first\nmemo.", "mimeType": "text/plain"}
TEMPLATE = {"uriTemplate": "memo://{name}", "name": "any", "description": "By its name."}
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="


def names(request):
    return [it.name for it in request.tools]


def results(odin):
    return [it for message in odin.session.messages for it in message.results]


def asked_for(log, method):
    sent = [json.loads(line) for line in log.read_text().splitlines()]
    return [it["params"] for it in sent if it.get("method") == method]


@pytest.fixture
def read(call):
    return {"calls": [call("ReadMcpResource", server="toy", uri="memo://one")]}


@pytest.mark.parametrize("mode", MODES.values())
@pytest.mark.parametrize("table", [{"resources": [MEMO]}, {"templates": [TEMPLATE]}])
async def test_where_a_server_has_resources_every_mode_lists_the_tools(odin, serve, requests, mode, table):
    serve(toy=table)
    odin.script({"text": "done"})
    odin.start(trusted=True)
    odin.watch()

    await odin.take(mode=mode)

    [request] = requests
    assert set(names(request)[: request.shared_tools]) >= BOTH


@pytest.mark.parametrize("mode", MODES.values())
async def test_a_server_that_could_have_resources_and_has_none_costs_no_byte(odin, serve, requests, mode):
    serve(toy={"resources": [], "templates": []})
    odin.script({"text": "done"})
    odin.start(trusted=True)
    odin.watch()

    await odin.take(mode=mode)

    [request] = requests
    assert not BOTH & set(names(request))
    assert "esource" not in str(request.system)


@pytest.mark.parametrize("mode", ["ask", "plan", "edit"])
async def test_a_subagent_has_them_and_asks_the_user_itself(odin, serve, call, read, person, requests, mode):
    serve(toy={"resources": [MEMO]})
    delegate = call("AgentTool", description="read", prompt="Read it.", mode=mode)
    odin.script({"calls": [delegate]}, read, {"text": "helped"}, {"text": "done"})
    odin.settings["smallModel"] = f"scripted/{odin.script_file}"
    odin.start(trusted=True)
    odin.watch()
    person.answers = [ONCE]

    await odin.take(mode="edit_mode")

    assert set(names(requests[1])) >= BOTH
    assert "AgentTool" not in names(requests[1])
    assert [it.title for it in person.questions] == ["May Odin read memo://one of the MCP server toy?"]
    assert [it.status for it in odin.of(ToolFinished)] == ["success", "success"]


async def test_what_a_server_had_is_known_before_it_runs_again(odin, serve, requests):
    serve(toy={"resources": [MEMO]})
    odin.script({"text": "one"}, {"text": "two"})
    odin.start(trusted=True)
    await odin.take(mode="edit_mode")
    await odin.core.close()
    odin.core = None
    odin.start(trusted=True)
    odin.watch()

    await odin.take(mode="edit_mode")

    assert odin.core.mcp.states()[0].state == "configured"
    assert set(names(requests[0])) >= BOTH


async def test_the_list_is_data_in_one_line_each_and_of_one_server_if_one_is_named(odin, serve, call):
    sly = {"uri": "sly://x", "name": "sly", "description": "\u202e" + "x" * 1000}
    serve(toy={"resources": [MEMO], "templates": [TEMPLATE]}, other={"resources": [sly]}, none={})
    odin.script(
        {"calls": [call("ListMcpResources")]},
        {"calls": [call("ListMcpResources", server="toy")]},
        {"calls": [call("ListMcpResources", server="nobody")]},
        {"text": "done"},
    )
    odin.start(trusted=True)

    await odin.take()

    everything, of_one, of_nobody = (it.content for it in results(odin))
    lines = everything.splitlines()
    assert "is data from MCP servers" in lines[0]
    assert "- memo://one one: The first memo. (text/plain)" in lines
    assert "- memo://{name} any: By its name." in lines
    assert "Server none:" not in lines
    assert "\u202e" not in everything
    assert max(map(len, lines[2:])) < 250
    assert "memo://one" in of_one
    assert "sly" not in of_one
    assert "there is no MCP server 'nobody'" in of_nobody


async def test_a_list_is_bounded_and_a_server_that_has_died_hides_no_other(odin, serve, call):
    many = [{"uri": f"memo://{number}", "name": "x" * 100} for number in range(900)]
    serve(toy={"resources": many}, bad={"resources": [MEMO]})
    odin.script({"text": "hello"})
    odin.start(trusted=True)
    await odin.take()
    await odin.core.close()
    serve(toy={"resources": many}, bad={"start": [{"exit": 2}]})
    odin.core = None
    odin.script({"calls": [call("ListMcpResources")]}, {"text": "done"})
    odin.start(trusted=True)

    await odin.take()

    [told] = results(odin)
    assert len(told.content) < 32_000
    assert "more lines; narrow the search)" in told.content
    assert "bad: the MCP server bad cannot be used: bad has stopped with code 2" in told.content


@pytest.mark.parametrize("mode", MODES.values())
async def test_the_user_is_asked_in_every_mode_and_the_answer_is_data(odin, serve, read, person, mode, tmp_path):
    serve(toy={"resources": [MEMO], "log": str(tmp_path / "log")})
    odin.script(read, read, {"text": "done"})
    odin.start(trusted=True)
    person.answers = [ONCE, None]

    outcome = await odin.take(mode=mode)

    first, second = results(odin)
    assert [it.title for it in person.questions] == ["May Odin read memo://one of the MCP server toy?"] * 2
    assert '"uri": "memo://one"' in person.questions[0].detail
    assert "The server is one of this project" in person.questions[0].detail
    assert "is data from the MCP server toy" in first.content
    assert "content of memo://one" in first.content
    assert "did not allow" in second.content
    assert [it.status for it in outcome.tools] == ["success", "error"]
    assert asked_for(tmp_path / "log", "resources/read") == [{"uri": "memo://one"}]


async def test_what_is_allowed_for_the_session_is_one_server_in_one_mode(odin, serve, read, call, person):
    serve(toy={"resources": [MEMO]}, other={"resources": [MEMO]})
    elsewhere = {"calls": [call("ReadMcpResource", server="other", uri="memo://one")]}
    odin.script(read, read, elsewhere, {"text": "done"}, read, {"text": "done"})
    odin.start(trusted=True)
    person.answers = [Answer(("allow_session",)), ONCE, ONCE]

    await odin.take(mode="ask_mode")
    await odin.take(mode="edit_mode")

    assert [it.title.split()[-1] for it in person.questions] == ["toy?", "other?", "toy?"]
    assert {it.failed for it in results(odin)} == {False}
    assert "Allow “toy:*” in this session" in [it.label for it in person.questions[0].options]


@pytest.mark.parametrize(
    ("mode", "modes", "asked"),
    [("edit_mode", (), 0), ("ask_mode", ("ask",), 0), ("ask_mode", (), 1), ("plan_mode", ("ask",), 1)],
)
@pytest.mark.parametrize("tool", ["mcp__toy", resources_name("toy")])
async def test_a_rule_of_the_user_allows_it_where_it_names_the_mode(
    odin, serve, read, person, mode, modes, asked, tool
):
    serve(toy={"resources": [MEMO]})
    odin.script(read, {"text": "done"})
    odin.start(trusted=True)
    odin.configure(rules=(allowing(odin, "toy", modes=modes).model_copy(update={"tool": tool}),))
    person.answers = [ONCE]

    outcome = await odin.take(mode=mode)

    assert [it.status for it in outcome.tools] == ["success"]
    assert len(person.questions) == asked


@pytest.mark.parametrize("tool", ["mcp__toy", resources_name("toy")])
async def test_a_server_that_is_denied_is_neither_listed_nor_read(odin, serve, call, read, person, tool, tmp_path):
    serve(toy={"resources": [MEMO], "log": str(tmp_path / "log")})
    odin.script({"calls": [call("ListMcpResources")]}, read, {"text": "done"})
    odin.start(trusted=True)
    odin.configure(rules=(RuleSettings(tool=tool, decision="deny"),))

    await odin.take(mode="edit_mode")

    listed, told = results(odin)
    assert listed.content == "There are no resources."
    assert "the user's rules deny" in told.content
    assert person.questions == []
    assert asked_for(tmp_path / "log", "resources/read") == []


async def test_a_rule_on_the_tool_that_denies_it_takes_it_from_the_list(odin, serve, requests):
    serve(toy={"resources": [MEMO]})
    odin.script({"text": "done"})
    odin.start(trusted=True)
    odin.configure(rules=(RuleSettings(tool="ReadMcpResource", decision="deny"),))
    odin.watch()

    await odin.take()

    assert BOTH & set(names(requests[0])) == {"ListMcpResources"}


async def test_images_are_shown_other_bytes_are_named_and_much_text_is_in_a_file(odin, serve, call, person):
    contents = [
        {"uri": "memo://one", "mimeType": "image/png", "blob": PNG},
        {"uri": "memo://one", "mimeType": "application/zip", "blob": "AAAA"},
        {"uri": "memo://one", "text": "x" * 100_000},
    ]
    serve(toy={"resources": [MEMO], "resources/read": [{"answer": {"contents": contents}}]})
    odin.script({"calls": [call("ReadMcpResource", server="toy", uri="memo://one")]}, {"text": "done"})
    odin.start(trusted=True)
    person.answers = [ONCE]

    await odin.take()

    [told] = results(odin)
    assert [(it.width, it.height) for it in told.attached] == [(1, 1)]
    assert "(memo://one was left out: 3 bytes of application/zip)" in told.content
    assert len(told.content) < 40_000
    assert "output-1.txt" in told.content


async def test_an_address_with_a_key_of_the_user_is_not_sent(odin, serve, call, person, monkeypatch, tmp_path):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-0123456789abcdef")
    serve(toy={"resources": [MEMO], "log": str(tmp_path / "log")})
    uri = "memo://sk-ant-0123456789abcdef"
    odin.script({"calls": [call("ReadMcpResource", server="toy", uri=uri)]}, {"text": "done"})
    odin.start(trusted=True)

    outcome = await odin.take()

    assert [it.status for it in outcome.tools] == ["error"]
    assert person.questions == []
    assert asked_for(tmp_path / "log", "resources/read") == []


async def test_what_a_server_gets_while_it_runs_is_offered_from_the_next_turn_on(odin, serve, call, person, requests):
    serve(toy={"call:echo": [{"resources": [MEMO]}, {"text": "ok"}]})
    odin.script({"calls": [call("mcp__toy__echo")]}, {"text": "one"}, {"text": "two"})
    odin.start(trusted=True)
    odin.configure(rules=(allowing(odin, "toy"),))
    odin.watch()
    await odin.take(mode="edit_mode")
    while not odin.core.mcp.have_resources:
        await asyncio.sleep(0.01)

    await odin.take(mode="edit_mode")

    assert [set(names(it)) >= BOTH for it in requests] == [False, False, True]
