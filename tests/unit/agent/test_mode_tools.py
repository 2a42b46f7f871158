"""What each mode offers, to the agent that the user speaks with and to its helpers."""

import pytest

from odin_lsp.agent.mode_tools import mode_tools
from odin_lsp.modes import MODES
from odin_lsp.tools.base import all_tools

READING = {"LS", "Grep", "Glob", "Read", "WebFetch", "ContextSummarizer", "ExecuteCommand", "TodoWrite"}
WRITING = {"WriteFile", "EditTool", "MultiEditTool", "InitTool"}
NOT_FOR_HELPERS = {"AgentTool"}
EFFECTS = {
    "AgentTool": "delegate",
    "AskUser": "blocking",
    "CallTool": "none",
    "CommandStatus": "none",
    "ContextSummarizer": "read_only",
    "DeleteFile": "mutating",
    "EditTool": "mutating",
    "ExecuteCommand": "blocking",
    "FindTool": "none",
    "Glob": "read_only",
    "Grep": "read_only",
    "InitTool": "mutating",
    "LS": "read_only",
    "ListMcpResources": "none",
    "Lookup": "read_only",
    "Memory": "none",
    "MoveFile": "mutating",
    "MultiEditTool": "mutating",
    "Read": "read_only",
    "ReadMcpResource": "network",
    "Refactor": "mutating",
    "NotebookEdit": "mutating",
    "ReplaceInFiles": "mutating",
    "Skill": "read_only",
    "TodoWrite": "none",
    "WebFetch": "network",
    "WebSearch": "network",
    "WriteFile": "mutating",
}


@pytest.mark.parametrize("mode", MODES.values())
@pytest.mark.parametrize("subagent", [False, True])
def test_what_reads_is_offered_always_and_what_writes_in_edit_alone(mode, subagent):
    offered = mode_tools(mode, subagent=subagent).keys()

    asked_for = {"AgentTool", *READING, *(WRITING if mode == "edit_mode" else ())}
    assert offered & (READING | WRITING | NOT_FOR_HELPERS) == asked_for - (NOT_FOR_HELPERS if subagent else set())


def test_each_tool_says_what_it_can_change():
    assert {name: tool.effect.value for name, tool in all_tools().items()} == EFFECTS
