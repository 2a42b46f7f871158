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


ON_A_SELECTION = ["Odin: Explain", "Odin: Plan…", "Odin: Edit…", "Odin: Document", "Odin: Write tests"]
ON_A_PROBLEM = [
    "Odin: Explain “undefined name 'x'”",
    "Odin: Plan a fix for “undefined name 'x'”",
    "Odin: Fix “undefined name 'x'”",
    "Odin: Fix all problems in this file",
]


async def test_a_selection_can_be_explained_planned_edited_documented_and_tested(actions):
    client, found = await actions(SELECTION)

    assert [action.title for action in found] == ON_A_SELECTION
    command = found[0]
    outcome = await client.lsp.workspace_execute_command_async(
        types.ExecuteCommandParams(command.command, command.arguments)
    )
    assert outcome["answer"] == "explained"


async def test_what_to_edit_is_asked_for(actions):
    client, found = await actions(SELECTION)
    client.answers.append({"optionIds": [], "text": "make it louder"})

    outcome = await client.lsp.workspace_execute_command_async(
        types.ExecuteCommandParams(found[2].command, found[2].arguments)
    )
    again = await client.lsp.workspace_execute_command_async(
        types.ExecuteCommandParams(found[2].command, found[2].arguments)
    )

    assert (outcome["mode"], outcome["answer"]) == ("edit_mode", "explained")
    assert [question["allowText"] for question in client.questions] == [True, True]
    state = await client.command("state")
    assert [turn["body"] for turn in state["messages"]] == ["make it louder"]
    assert again == {"cancelled": True}


async def test_a_diagnostic_can_be_explained_and_a_fix_planned_and_made(actions):
    _, found = await actions(POINT, [PROBLEM])

    assert [action.title for action in found] == ON_A_PROBLEM


async def test_nothing_is_offered_at_a_mere_cursor(actions):
    assert not (await actions(POINT))[1]


@pytest.mark.parametrize(
    ("only", "titles"),
    [
        (["quickfix"], ON_A_PROBLEM),
        (["odin"], ON_A_SELECTION),
        (["odin.plan"], ["Odin: Plan…"]),
        (["refactor", "source.organizeImports"], []),
    ],
)
async def test_only_the_kinds_that_were_asked_for_are_offered(actions, only, titles):
    _, found = await actions(SELECTION, [PROBLEM], only)

    assert [action.title for action in found] == titles
