"""Odin in the editor's own menus."""

import pytest
from lsprotocol import types

SELECTION = types.Range(types.Position(0, 4), types.Position(0, 9))
POINT = types.Range(types.Position(0, 4), types.Position(0, 4))
PROBLEM = types.Diagnostic(SELECTION, "undefined name 'x'", severity=types.DiagnosticSeverity.Error, source="pyflakes")


@pytest.fixture
async def actions(start, root, script):
    client = await start(**script({"text": "explained"}))

    async def actions(span, diagnostics=(), only=None):
        return client, await client.lsp.text_document_code_action_async(
            types.CodeActionParams(
                types.TextDocumentIdentifier((root / "greet.py").as_uri()),
                span,
                types.CodeActionContext(list(diagnostics), only=only),
            )
        )

    return actions


async def test_a_selection_can_be_explained_and_planned(actions):
    client, found = await actions(SELECTION)

    assert [action.title for action in found] == ["Odin: Explain", "Odin: Plan…"]
    command = found[0]
    outcome = await client.lsp.workspace_execute_command_async(
        types.ExecuteCommandParams(command.command, command.arguments)
    )
    assert outcome["answer"] == "explained"


async def test_a_diagnostic_can_be_explained_and_a_fix_planned(actions):
    _, found = await actions(POINT, [PROBLEM])

    assert [action.title for action in found] == [
        "Odin: Explain “undefined name 'x'”",
        "Odin: Plan a fix for “undefined name 'x'”",
    ]


async def test_nothing_is_offered_at_a_mere_cursor(actions):
    assert not (await actions(POINT))[1]


@pytest.mark.parametrize(
    ("only", "titles"),
    [
        (["quickfix"], ["Odin: Explain “undefined name 'x'”", "Odin: Plan a fix for “undefined name 'x'”"]),
        (["odin"], ["Odin: Explain", "Odin: Plan…"]),
        (["odin.plan"], ["Odin: Plan…"]),
        (["refactor", "source.organizeImports"], []),
    ],
)
async def test_only_the_kinds_that_were_asked_for_are_offered(actions, only, titles):
    _, found = await actions(SELECTION, [PROBLEM], only)

    assert [action.title for action in found] == titles
