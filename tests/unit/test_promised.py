"""The numbers and names that were promised, in one place: whoever changes one of them breaks a promise."""

from typing import Any, get_args

import pytest

from odin_lsp.agent import planner, speech
from odin_lsp.commands.output import MAX_SHOWN_CHARS
from odin_lsp.config import CommandSettings, Config, Limits, RuleSettings
from odin_lsp.errors import EmptyPrompt, RequestError, SessionBusy
from odin_lsp.events import Activity, Compacted, SubagentFinished
from odin_lsp.modes import Mode
from odin_lsp.permissions.rules import Effect
from odin_lsp.ports import Level
from odin_lsp.records import ExitReason, TodoStatus, ToolStatus
from odin_lsp.sessions import session as sessions
from odin_lsp.sessions import titles
from odin_lsp.tools import read
from odin_lsp.tools.base import all_tools
from odin_lsp.values import Value


def words(kind: Any) -> set[str]:
    return set(get_args(kind))


def properties(tool: str) -> dict[str, Any]:
    return all_tools()[tool].schema["properties"]


def test_the_limits_of_a_turn():
    limits = Limits()

    assert (limits.max_turns, limits.max_budget_usd, limits.max_tokens) == (100, 0, 8192)
    assert planner.MAX_MALFORMED == 3


def test_the_limits_of_a_command():
    assert CommandSettings().timeout == 120
    assert properties("ExecuteCommand")["timeout"]["maximum"] == 600_000
    assert MAX_SHOWN_CHARS == 30_000


def test_the_limits_of_a_read():
    assert (read.MAX_LINES, read.MAX_LINE_CHARS) == (2000, 2000)
    assert properties("Read")["limit"]["default"] == 2000


def test_the_limits_of_a_session():
    assert sessions.MAX_TURNS == 100
    assert titles.from_message(" \n ") == titles.NEW == "New Session"
    assert speech.PACE_SECONDS == 0.15


def test_the_defaults_of_arguments():
    assert properties("Grep")["-n"]["default"] is True
    assert "default" not in properties("EditTool")["replace_all"]
    assert properties("MultiEditTool")["edits"]["minItems"] == 1
    assert properties("TodoWrite")["todos"]["items"]["properties"]["content"]["minLength"] == 1


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("AgentTool", {"description", "prompt", "mode"}),
        ("ContextSummarizer", {"focus"}),
        ("ExecuteCommand", {"command", "timeout", "description", "run_in_background"}),
        ("Grep", {"offset", "limit"}),
    ],
)
def test_the_arguments_of_tools(tool, arguments):
    assert properties(tool).keys() >= arguments


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (Mode, {"ask_mode", "plan_mode", "edit_mode"}),
        (TodoStatus, {"pending", "in_progress", "completed"}),
        (ToolStatus, {"success", "error", "cancelled"}),
        (Level, {"info", "warning", "error"}),
        (RuleSettings.model_fields["decision"].annotation, {"allow", "ask", "deny"}),
        (Compacted.__annotations__["status"], {"started", "succeeded", "failed", "cancelled"}),
        (SubagentFinished.__annotations__["status"], {"completed", "stopped", "failed", "cancelled"}),
        (
            Activity,
            {
                *("idle", "connecting", "waiting_headers", "waiting_token", "streaming", "executing"),
                *("compacting", "retrying", "retrying_key", "cooling", "verifying"),
            },
        ),
    ],
    ids=lambda it: " ".join(sorted(it)) if isinstance(it, set) else "",
)
def test_the_words_for_states(kind, expected):
    assert words(kind) == expected


def test_the_reasons_for_which_a_turn_ends():
    assert words(ExitReason) >= {"end_turn", "max_turns", "max_budget", "max_tokens", "interrupted", "aborted"}


def test_what_a_call_can_change():
    assert {it.value for it in Effect} >= {"none", "read_only", "mutating", "network", "blocking"}


def test_errors_of_a_session_are_the_requests_own():
    assert issubclass(SessionBusy, RequestError)
    assert issubclass(EmptyPrompt, RequestError)


def test_what_is_handed_out_cannot_be_changed():
    def below(kind: type) -> set[type]:
        return {kind, *(it for each in kind.__subclasses__() for it in below(each))}

    assert [it.__name__ for it in below(Value) - {Value} if not it.__dataclass_params__.frozen] == []
    assert Config.model_config["frozen"]
