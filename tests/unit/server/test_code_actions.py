"""The menu, as a client that knows code actions gets it."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from lsprotocol import types

from odin_lsp.agent.plans import MARK
from odin_lsp.config import Config
from odin_lsp.ide.sight import Sight
from odin_lsp.intelligence.servers import Problem, Problems
from odin_lsp.server.client import Abilities
from odin_lsp.server.features.code_actions import register
from odin_lsp.server.hints import Hints
from odin_lsp.workspace.buffers import Buffers
from tests.support.servers_in_memory import ScriptedServers

SELECTION = types.Range(types.Position(0, 4), types.Position(0, 9))
URI = "file:///a.py"
INVOKED, AUTOMATIC = types.CodeActionTriggerKind.Invoked, types.CodeActionTriggerKind.Automatic


class Server:
    """Just enough of one to register a feature; nothing is under review in it."""

    is_working = False
    project = SimpleNamespace(now=SimpleNamespace(config=Config(provenance=False, commentRequests=False)))
    editor = SimpleNamespace(hints=Hints(None, None, None))

    def __init__(self, *, literals: bool = True, reported=None, events=True, text="x = undefined\n") -> None:
        self.abilities = Abilities(code_action_literals=literals, events=events, question=True)
        self.buffers = Buffers()
        self.sight = Sight(self.buffers)
        self.buffers.open(URI, 1, text)
        self.core = SimpleNamespace(servers=ScriptedServers(reported=reported or {}))
        register(self)

    def feature(self, method, options):
        def keep(handler):
            self.handler = handler

        return keep


ON_A_SELECTION = ["odin.explain", "odin.plan", "odin.edit", "odin.document", "odin.tests"]


async def menu(*, literals: bool = True, diagnostics=(), reported=None, trigger=INVOKED):
    document = types.TextDocumentIdentifier(URI)
    context = types.CodeActionContext(list(diagnostics), trigger_kind=trigger)
    server = Server(literals=literals, reported=reported)
    return await server.handler(types.CodeActionParams(document, SELECTION, context))


def context_of(actions, title):
    [action] = [it for it in actions if it.title == title]
    return action.command.arguments[0]["context"]


async def test_actions_have_kinds_of_their_own_and_are_never_preferred():
    problem = types.Diagnostic(SELECTION, "undefined name", code=7, source="lint")

    actions = await menu(literals=True, diagnostics=[problem])

    assert [action.kind for action in actions] == [*(["quickfix.odin"] * 4), *ON_A_SELECTION]
    assert not any(action.is_preferred for action in actions)
    assert actions[0].command.arguments[0]["context"][0]["content"] == "line 1: lint: undefined name [7]"


async def test_all_problems_of_a_file_are_those_that_servers_report_when_the_turn_begins():
    actions = await menu(diagnostics=[types.Diagnostic(SELECTION, "undefined name", source="lint")])

    assert context_of(actions, "Odin: Fix all problems in this file") == [
        {"kind": "diagnostics", "uri": URI},
        {"kind": "diagnostics", "uri": URI, "content": "line 1: lint: undefined name"},
        {"kind": "file", "uri": URI},
    ]


async def test_problems_in_a_selection_go_with_whatever_is_done_with_it():
    actions = await menu(diagnostics=[types.Diagnostic(SELECTION, "one"), types.Diagnostic(SELECTION, "two")])

    for title in ("Odin: Explain", "Odin: Plan…", "Odin: Edit…", "Odin: Document", "Odin: Write tests"):
        [_, problems] = context_of(actions, title)
        assert problems == {"kind": "diagnostics", "uri": URI, "content": "line 1: one\nline 1: two"}


async def test_where_the_editor_names_no_problems_those_that_are_known_are_offered_to_whoever_asks():
    reported = {Path("/a.py"): Problems((problem(0, "undefined name"), problem(1, "elsewhere")), is_current=True)}

    actions = await menu(reported=reported)

    assert "Odin: Fix “undefined name”" in [it.title for it in actions]
    assert context_of(actions, "Odin: Fix “undefined name”")[0] == {
        "kind": "diagnostics",
        "uri": URI,
        "range": {"start": {"line": 0, "character": 4}, "end": {"line": 0, "character": 13}},
        "content": "line 1: lint: undefined name [F821]",
    }
    assert not any("elsewhere" in it.title for it in actions)
    assert [it.kind for it in await menu(reported=reported, trigger=AUTOMATIC)] == ON_A_SELECTION
    named = await menu(reported=reported, diagnostics=[types.Diagnostic(SELECTION, "named")])
    assert not any("undefined name" in it.title for it in named)


async def test_a_client_without_literals_gets_commands():
    assert [command.command for command in await menu(literals=False)] == [
        "odin.ask",
        "odin.prompt",
        "odin.prompt",
        "odin.edit",
        "odin.edit",
    ]


async def test_a_pending_hunk_is_decided_not_explained():
    one = types.Diagnostic(SELECTION, "because", code="h1", source="Odin")
    two = types.Diagnostic(SELECTION, "because", code="h2", source="Odin")

    found = await menu(literals=True, diagnostics=[one, two])
    actions, others = found[:5], found[5:]

    assert [(it.title, it.command.command, it.command.arguments) for it in actions] == [
        ("Odin: Accept this change", "odin.review.accept", [{"hunkIds": ["h1"]}]),
        ("Odin: Reject this change", "odin.review.reject", [{"hunkIds": ["h1"]}]),
        ("Odin: Accept this change", "odin.review.accept", [{"hunkIds": ["h2"]}]),
        ("Odin: Reject this change", "odin.review.reject", [{"hunkIds": ["h2"]}]),
        ("Odin: Accept all changes in this file", "odin.review.accept", [{"uri": URI}]),
    ]
    assert {it.kind for it in actions} == {types.CodeActionKind.QuickFix}
    assert not any(it.is_preferred for it in actions)
    assert [it.kind for it in others] == ON_A_SELECTION


PLAN = f"""{MARK}

# Greet louder

- [ ] Shout
  at the end of each line
- [x] Test it
"""
OF_OPEN = ["Odin: Run this step", "Odin: Skip this step", "Odin: Mark this step as done"]
OF_PLAN = ["Odin: Run the plan", "Odin: Change the plan…"]


@pytest.mark.parametrize(
    ("line", "titles"),
    [
        (0, OF_PLAN),
        (4, [*OF_OPEN, *OF_PLAN]),
        (5, [*OF_OPEN, *OF_PLAN]),
        (6, ["Odin: Open this step again", *OF_PLAN]),
    ],
)
async def test_an_editor_without_a_plugin_runs_a_plan_by_its_actions(line, titles):
    at = types.Position(line, 2)
    asked = types.CodeActionParams(
        types.TextDocumentIdentifier(URI), types.Range(at, at), types.CodeActionContext([], only=["odin"])
    )

    offered = await Server(events=False, text=PLAN).handler(asked)

    assert [it.title for it in offered] == titles
    assert await Server(events=True, text=PLAN).handler(asked) == []


def problem(line, message):
    place = {"line": line, "character": 4, "end_line": line, "end_character": 13}
    return Problem(**place, severity="error", message=message, code="F821", source="lint")


async def test_a_selection_is_known_to_an_agent_that_is_connected_and_can_be_mentioned_to_it():
    server = Server(literals=True)
    params = types.CodeActionParams(types.TextDocumentIdentifier(URI), SELECTION, types.CodeActionContext([]))
    assert "odin.mention" not in [it.kind for it in await server.handler(params)]

    with server.sight.shared_with(SimpleNamespace(look=lambda: None)):
        [mention] = [it for it in await server.handler(params) if it.kind == "odin.mention"]

    assert mention.command.arguments[0]["uri"] == URI
