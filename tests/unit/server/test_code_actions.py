"""The menu, as a client that knows code actions gets it."""

from types import SimpleNamespace

from lsprotocol import types

from odin_lsp.server.client import Abilities
from odin_lsp.server.features.code_actions import register
from odin_lsp.server.hints import Hints
from odin_lsp.workspace.buffers import Buffers

SELECTION = types.Range(types.Position(0, 4), types.Position(0, 9))


class Server:
    """Just enough of one to register a feature; nothing is under review in it."""

    is_working = False
    buffers = Buffers()
    editor = SimpleNamespace(hints=Hints(None, None, None))

    def __init__(self, *, literals: bool) -> None:
        self.abilities = Abilities(code_action_literals=literals, events=True)
        register(self)

    def feature(self, method, options):
        def keep(handler):
            self.handler = handler

        return keep


ON_A_SELECTION = ["odin.explain", "odin.plan", "odin.edit", "odin.document", "odin.tests"]


async def menu(*, literals: bool, diagnostics=()):
    document = types.TextDocumentIdentifier("file:///a.py")
    context = types.CodeActionContext(list(diagnostics))
    return await Server(literals=literals).handler(types.CodeActionParams(document, SELECTION, context))


async def test_actions_have_kinds_of_their_own_and_are_never_preferred():
    problem = types.Diagnostic(SELECTION, "undefined name", code=7, source="lint")

    actions = await menu(literals=True, diagnostics=[problem])

    assert [action.kind for action in actions] == [*(["quickfix.odin"] * 3), *ON_A_SELECTION]
    assert not any(action.is_preferred for action in actions)
    assert actions[0].command.arguments[0]["context"][0]["content"] == "line 1: lint: undefined name [7]"


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
        ("Odin: Accept all changes in this file", "odin.review.accept", [{"uri": "file:///a.py"}]),
    ]
    assert {it.kind for it in actions} == {types.CodeActionKind.QuickFix}
    assert not any(it.is_preferred for it in actions)
    assert [it.kind for it in others] == ON_A_SELECTION
