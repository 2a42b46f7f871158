"""What was allowed is what runs: between the first look and the act the verdict may have become any other, and the one
that counts is the last."""

from contextlib import suppress
from dataclasses import replace
from itertools import product

import pytest

from odin_lsp.commands.session import SessionCommands, judged_by
from odin_lsp.config import Config
from odin_lsp.config.schema import SearchSettings
from odin_lsp.errors import PermissionDenied
from odin_lsp.extensions.mcp_files import McpServer
from odin_lsp.mcp.connection import Around
from odin_lsp.mcp.pool import McpServers
from odin_lsp.permissions.gate import Gate
from odin_lsp.review.drafts import Draft
from odin_lsp.tools.base import ToolOutput, all_tools
from odin_lsp.web.pages import Pages

VERDICTS = ("allow", "ask", "deny")
PAIRS = list(product(VERDICTS, VERDICTS))
ARGUMENTS = {
    "AgentTool": {"description": "x", "prompt": "x"},
    "AskUser": {"question": "x"},
    "CallTool": {"name": "x"},
    "CommandStatus": {},
    "ContextSummarizer": {"file_paths": ["a.txt"], "focus": "x"},
    "DeleteFile": {"file_path": "{root}/a.txt"},
    "EditTool": {"file_path": "{root}/a.txt", "old_string": "plain", "new_string": "x"},
    "FindTool": {"query": "x"},
    "Glob": {"pattern": "*"},
    "Grep": {"pattern": "x"},
    "InitTool": {},
    "NotebookEdit": {"file_path": "{root}/a.txt", "cell_id": "x", "source": "x"},
    "LS": {"path": "{root}"},
    "ListMcpResources": {},
    "Lookup": {"what": "references", "symbol": "x"},
    "Skill": {"name": "deploy"},
    "Memory": {"action": "recall"},
    "MoveFile": {"file_path": "{root}/a.txt", "new_path": "{root}/b.txt"},
    "MultiEditTool": {"file_path": "{root}/a.txt", "edits": [{"old_string": "plain", "new_string": "x"}]},
    "Read": {"file_path": "{root}/a.txt"},
    "ReadMcpResource": {"server": "toy", "uri": "memo://x"},
    "Refactor": {"what": "format", "file_path": "{root}/a.txt"},
    "ReplaceInFiles": {"pattern": "plain", "replacement": "x", "glob": "*"},
    "TodoWrite": {"todos": []},
    "WebFetch": {"url": "https://example.org/", "prompt": "x"},
    "WebSearch": {"query": "x"},
    "WriteFile": {"file_path": "{root}/a.txt", "content": "x"},
}
COMMAND_RULES = {"allow": {"allowedCommands": ["touch made"]}, "ask": {}, "deny": {"forbiddenCommands": ["touch"]}}


class Rules:
    """The user's, which change while Odin works."""

    def __init__(self, world):
        self.config = Config()
        gate = Gate(world.person, lambda: self.config, lambda: world.root)
        commands = SessionCommands(lambda: self.config, judged_by(gate.rules))
        pages = Pages(search=SearchSettings(provider="duckduckgo"))
        mcp = McpServers(lambda *_: None)
        mcp.use({"toy": McpServer(name="toy", transport="stdio", command="toy")}, Around())
        world.context = replace(world.context, mode="edit_mode", gate=gate, commands=commands, pages=pages, mcp=mcp)

    def say(self, tool, decision):
        if tool == "ExecuteCommand":
            self.config = Config(**COMMAND_RULES[decision])
        else:
            self.config = Config(rules=({"tool": tool, "decision": decision},))


@pytest.fixture
async def rules(world):
    yield Rules(world)
    await world.context.commands.close()


@pytest.fixture
def acted(monkeypatch):
    """The tools that came to act."""
    acted = []

    def instead_of(name):
        async def execute(params, context):
            acted.append(name)
            return ToolOutput(data="", description="")

        return execute

    async def prepare(params, context):
        pass

    for name in ARGUMENTS:
        monkeypatch.setattr(all_tools()[name], "execute", instead_of(name))
        monkeypatch.setattr(all_tools()[name], "prepare", prepare)
    return acted


def parsed(name, world):
    given = {
        key: value.format(root=world.root) if isinstance(value, str) else value
        for key, value in ARGUMENTS[name].items()
    }
    return all_tools()[name].parse(given)


def test_every_tool_is_walked_through():
    assert ARGUMENTS.keys() | {"ExecuteCommand"} == all_tools().keys()


@pytest.mark.parametrize(("then", "now"), PAIRS)
@pytest.mark.parametrize("name", ARGUMENTS)
async def test_a_tool_goes_by_what_the_rules_say_when_it_acts(world, rules, acted, name, then, now):
    tool, params = all_tools()[name], parsed(name, world)
    rules.say(name, then)
    with suppress(PermissionDenied):
        tool.wants(params, world.context)
    rules.say(name, now)
    with suppress(PermissionDenied):
        await tool.run(params, world.context)

    assert acted == ([name] if now == "allow" else [])
    assert len(world.person.questions) == (now == "ask")


@pytest.mark.parametrize("now", VERDICTS)
@pytest.mark.parametrize("name", ARGUMENTS)
async def test_a_yes_is_no_answer_to_rules_that_came_meanwhile(world, rules, acted, name, now):
    rules.say(name, "ask")
    world.person.always = "allow_once"
    world.person.meanwhile = lambda: rules.say(name, now)
    with suppress(PermissionDenied):
        await all_tools()[name].run(parsed(name, world), world.context)

    assert acted == ([] if now == "deny" else [name])


@pytest.mark.parametrize("answer", ["allow_once", "deny"])
@pytest.mark.parametrize(("then", "now"), PAIRS)
async def test_a_command_goes_by_what_is_said_after_the_review_before_it(world, rules, monkeypatch, then, now, answer):
    """Edits that wait are reviewed before a command runs, and what they make of the workspace may change what it is."""
    review = Draft.review

    async def reviewed(self):
        done = await review(self)
        rules.say("ExecuteCommand", now)
        return done

    monkeypatch.setattr(Draft, "review", reviewed)
    world.person.always = answer
    rules.say("ExecuteCommand", then)
    with suppress(PermissionDenied):
        await world.use("ExecuteCommand", command="touch made")

    yes = {"allow": True, "ask": answer == "allow_once", "deny": False}
    assert (world.root / "made").exists() is (yes[then] and yes[now])
