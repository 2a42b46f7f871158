"""Servers that have a name of the user's, or one that could be taken for it: nothing that the user has said is about
them."""

import json
import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odin_lsp.agent.mcp_tool import Given, McpTool
from odin_lsp.config import Config, McpSettings, RuleSettings, load
from odin_lsp.errors import ToolError
from odin_lsp.events import Notice
from odin_lsp.extensions.hook_files import CommandHook
from odin_lsp.extensions.mcp_files import NAME, McpServer
from odin_lsp.mcp import pins
from odin_lsp.mcp.connection import Around
from odin_lsp.mcp.login import log_in
from odin_lsp.mcp.pool import McpServers
from odin_lsp.mcp.trying import try_out
from odin_lsp.mcp.values import Definition
from odin_lsp.permissions.approvals import Approvals, approvals_file
from odin_lsp.permissions.foreign_names import ToolOwner, former_name, full_name, server_prefix
from odin_lsp.permissions.rules import Effect, Rules, decide
from odin_lsp.ports import Answer
from tests.support.login_server import LoginServer, browse
from tests.support.mcp_servers import allowing, entry, scripted

MINE, THEIRS = ToolOwner("mine", is_users=True), ToolOwner("theirs", is_users=False)
ALWAYS = Answer(("allow_always",))


@pytest.fixture
def world(odin, tmp_path, monkeypatch):
    """The user has a server `git`; the project names servers, too."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    odin.settings["mcp"] = {"wait": 20, "timeout": 20}
    mine = tmp_path / "config" / "odin" / "mcp.json"
    mine.parent.mkdir(parents=True)
    mine.write_text(json.dumps({"mcpServers": {"git": entry(tmp_path, answering("the user's"), "mine")}}))

    def bring(**servers):
        entries = {name: entry(tmp_path, answering("the project's"), f"theirs-{at}") for at, name in enumerate(servers)}
        (odin.root / ".mcp.json").write_text(json.dumps({"mcpServers": entries}))

    odin.bring = bring
    return odin


def answering(whose):
    return {"call:echo": [{"text": f"answer of {whose}"}]}


def results(odin):
    return [it.content for message in odin.session.messages for it in message.results]


@pytest.mark.parametrize("name", ["git.", "gitЯ"])
async def test_mcp_11_no_server_takes_the_calls_of_another_or_its_rule(world, call, person, name):
    world.bring(**{name: {}})
    world.script({"calls": [call("mcp__git__echo")]}, {"calls": [call(full_name(name, "echo"))]}, {"text": "done"})
    world.start(trusted=True)
    world.configure(rules=(RuleSettings(tool="mcp__git", decision="allow"),))

    await world.take(mode="edit_mode")

    first, second = results(world)
    assert "answer of the user's" in first
    assert "did not allow" in second
    assert [f"of the MCP server {name}?" in it.title for it in person.questions] == [True]
    assert "The server is one of this project (.mcp.json)." in person.questions[0].detail


async def test_mcp_11_a_project_that_takes_the_very_name_gets_no_rule_of_the_users_and_the_user_is_told(
    world, call, person
):
    world.bring(git={})
    world.script(
        {"calls": [call("mcp__git__echo")]}, {"text": "one"}, {"calls": [call("mcp__git__echo")]}, {"text": "2"}
    )
    world.start(trusted=True)
    rules = [RuleSettings(tool=it, decision="allow", modes=("ask", "edit")) for it in ("mcp__git", "mcp__git__echo")]
    world.configure(rules=tuple(rules))

    await world.take(mode="edit_mode")
    never_asked = await world.take(mode="ask_mode")

    assert "did not allow" in results(world)[0]
    assert [it.status for it in never_asked.tools] == ["error"]
    assert len(person.questions) == 1
    told = [it.message for it in world.of(Notice) if "is the project's here, not your own" in it.message]
    assert len(told) == 1


async def test_mcp_11_the_user_allows_a_projects_server_by_its_id(world, call, person):
    world.bring(git={})
    world.script({"calls": [call("mcp__git__echo")]}, {"text": "done"})
    world.start(trusted=True)
    world.configure(rules=(allowing(world, "git", modes=("ask",)),))

    await world.take(mode="ask_mode")

    assert "answer of the project's" in results(world)[0]
    assert person.questions == []


async def test_mcp_12_an_approval_for_the_users_server_is_none_for_a_projects(world, call, person):
    world.script({"calls": [call("mcp__git__echo")]}, {"text": "one"})
    world.start(trusted=True)
    person.answers = [ALWAYS]
    await world.take(mode="edit_mode")
    await world.core.close()
    world.core = None
    world.bring(git={})
    world.script({"calls": [call("mcp__git__echo")]}, {"text": "two"})
    world.start(trusted=True)

    await world.take(mode="edit_mode")

    assert len(person.questions) == 2
    assert "did not allow" in results(world)[-1]
    assert [it.tool for it in Approvals().all()] == ["mcp__git__echo"]


async def test_mcp_12_a_tool_that_a_model_was_told_of_is_not_called_at_another_server(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    around = Around((tmp_path,), McpSettings(timeout=20))
    mine = replace(scripted(tmp_path, answering("the user's"), "git"), layer="user")
    pool = McpServers(lambda *_: None)
    pool.use({"git": mine}, around)
    await pool.begin(20)
    tool = McpTool(pool.offered["mcp__git__echo"], pool)
    pool.use({"git": replace(mine, layer="project")}, around)

    with pytest.raises(ToolError, match="there is another server git now"):
        tool.wants(Given(arguments={}), None)
    with pytest.raises(ToolError, match="there is another server git now"):
        await tool.execute(Given(arguments={}), None)
    await pool.close()


@pytest.mark.parametrize(
    ("rule", "owner", "decision"),
    [
        ({"tool": "mcp__git", "decision": "allow"}, MINE, "allow"),
        ({"tool": "mcp__git__echo", "decision": "allow"}, THEIRS, "ask"),
        ({"tool": "mcp__git__*", "decision": "allow"}, THEIRS, "ask"),
        ({"tool": "*", "decision": "allow"}, THEIRS, "allow"),
        ({"tool": "mcp__git", "decision": "allow", "server": "theirs"}, THEIRS, "allow"),
        ({"tool": "mcp__git", "decision": "allow", "server": "theirs"}, MINE, "ask"),
        ({"tool": "mcp__git", "decision": "allow", "origin": "workspace"}, MINE, "ask"),
        ({"tool": "mcp__git", "decision": "allow", "origin": "workspace", "server": "mine"}, MINE, "ask"),
        ({"tool": "mcp__git", "decision": "allow", "origin": "workspace"}, THEIRS, "allow"),
        ({"tool": "mcp__git", "decision": "allow", "origin": "editor"}, MINE, "allow"),
        ({"tool": "mcp__git", "decision": "allow", "origin": "editor", "server": "theirs"}, THEIRS, "ask"),
        ({"tool": "mcp__git", "decision": "deny"}, THEIRS, "deny"),
        ({"tool": "mcp__git", "decision": "deny", "origin": "workspace"}, MINE, "deny"),
    ],
    ids=str,
)
def test_mcp_11_a_rule_that_allows_is_about_a_server_of_whoever_has_written_it(rule, owner, decision):
    rule = dict(rule)
    origin = rule.pop("origin", "user")
    rules = Rules.of(Config(rules=(RuleSettings(**rule).with_origin(origin),)))

    verdict = decide("mcp__git__echo", Effect.FOREIGN, "edit_mode", rules, owner=owner)

    assert verdict.decision == decision


def test_mcp_11_where_a_rule_stands_says_whose_it_is(tmp_path):
    (tmp_path / "odinconfig.json").write_text(json.dumps({"rules": [{"tool": "mcp__a", "decision": "deny"}]}))
    user = tmp_path / "user.json"
    user.write_text(json.dumps({"rules": [{"tool": "mcp__b", "decision": "deny"}]}))

    found, _ = load(tmp_path, settings={"rules": [{"tool": "mcp__c", "decision": "deny"}]}, user=user)

    assert [it.origin for it in found.rules] == ["user", "workspace", "editor"]


NAMES = st.builds(
    lambda first, rest, times: (first + rest * times)[:61],
    st.sampled_from(["git", "g", "git_0123abcd"]),
    st.text("git_.-Я01f", max_size=12),
    st.integers(1, 8),
)


@settings(max_examples=settings().max_examples // 2)
@given(st.lists(NAMES, min_size=2, max_size=8, unique=True), st.text(min_size=1, max_size=80))
def test_mcp_11_no_two_servers_share_a_prefix_and_plain_names_stay(names, tool):
    prefixes = {name: server_prefix(name) for name in names}

    assert len(set(prefixes.values())) == len(names)
    for name, prefix in prefixes.items():
        assert NAME.fullmatch(name)
        whole = full_name(name, tool)
        assert re.fullmatch(r"mcp__[A-Za-z0-9_-]{1,59}", whole)
        assert whole.removeprefix("mcp__").partition("__")[0] == prefix.removeprefix("mcp__")
        if re.fullmatch(r"[A-Za-z][A-Za-z-]{0,40}", name):
            assert prefix == f"mcp__{name}"


def test_mcp_11_what_holds_a_server_back_by_its_former_name_still_does():
    tool = full_name("my.server", "echo")
    rules = Rules.of(Config(rules=(RuleSettings(tool="mcp__my_server", decision="deny"),)))

    assert former_name(tool) == "mcp__my_server__echo"
    assert decide(tool, Effect.FOREIGN, "edit_mode", rules, owner=MINE).decision == "deny"


async def test_mcp_11_of_two_whose_digests_meet_the_users_counts(monkeypatch, tmp_path):
    monkeypatch.setattr("odin_lsp.mcp.pool.server_prefix", lambda _: "mcp__git_01234567")
    told = []
    pool = McpServers(lambda _, message: told.append(message))
    theirs, mine = (McpServer(name=it, transport="stdio", command="x") for it in ("git.", "git_"))
    servers = {"git.": replace(theirs, layer="project"), "git_": replace(mine, layer="user")}

    for _ in range(2):
        pool.use(servers, Around((tmp_path,)))

    assert pool.names == ["git_"]
    assert ["git. is not used" in it for it in told] == [True]
    await pool.close()


def test_mcp_12_a_pin_is_of_one_server(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    mine = replace(scripted(tmp_path, {}), layer="user")
    pins.keep(mine, pins.Pins({"echo": Definition("echo", "Say it.", {})}))

    assert set(pins.read(mine).tools) == {"echo"}
    for other in (
        {"layer": "project"},
        {"env": {"X": "y"}},
        {"headers": {"X": "y"}},
        {"source": tmp_path / "mcp.json"},
    ):
        assert pins.read(replace(mine, **other)) == pins.Pins()


def test_mcp_12_what_earlier_versions_have_allowed_by_name_is_asked_about_again(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    old = {"tool": "mcp__git__echo", "pattern": "mcp__git__echo", "workspace": None, "mode": "edit_mode", "when": "x"}
    kept = old | {"tool": "ExecuteCommand", "pattern": "mkdir"}
    approvals_file().parent.mkdir(parents=True)
    approvals_file().write_text(json.dumps([old, kept]))

    assert [it.pattern for it in Approvals().all()] == ["mkdir"]


async def test_mcp_12_a_login_of_the_users_server_is_not_sent_by_a_projects_of_the_same_name(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    around = Around((tmp_path,), McpSettings(timeout=20))
    with LoginServer().running() as server:
        mine = replace(server.entry, layer="user")
        theirs = replace(server.entry, layer="project", agreed_as="agreed")
        await log_in(mine, around, browse)
        server.requests.clear()

        [refused] = await try_out([theirs], around)
        sent = [headers.get("authorization") for headers in server.asked("/mcp")]
        [used] = await try_out([mine], around)

    assert "it wants a login" in refused.problem
    assert set(sent) == {None}
    assert used.problem == ""


def test_mcp_11_a_hook_that_guards_a_server_by_its_former_name_still_does(tmp_path):
    from odin_lsp.agent.command_hooks import CommandHooks, Surroundings

    hook = CommandHook("PreToolUse", "mcp__my_server__.*", "./check", 5, tmp_path / "hooks.json")
    hooks = CommandHooks([hook], Surroundings("s", tmp_path, "edit_mode", tmp_path, (tmp_path,)), lambda _: None)

    assert hooks.meant("PreToolUse", {"tool": full_name("my.server", "echo")}) == [hook]
    assert hooks.meant("PreToolUse", {"tool": full_name("other.server", "echo")}) == []
