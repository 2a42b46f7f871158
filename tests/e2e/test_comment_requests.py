"""Comments that ask for something, from the buffer to the change that answers and removes them."""

import pytest
from lsprotocol import types

from tests.e2e.steps import says


@pytest.fixture
def files(root):
    (root / "one.py").write_text("def greet():\n    return 'hello'\n")
    (root / "two.py").write_text("text = 'AI!'  # rename it ODIN!\n")
    (root / "closed.py").write_text("# tidy up AI!\n")
    return root / "one.py", root / "two.py"


@pytest.fixture
def written(screen, files):
    """What stands in one of them is not saved."""
    one, two = files
    screen.open(one, two)
    screen.type(one, "# make it louder\n# and friendlier AI!\n", 0)
    screen.type(one, "  # why hello? odin?", 3, 18, 18)
    return screen


async def lenses(client, path):
    params = types.CodeLensParams(types.TextDocumentIdentifier(path.as_uri()))
    found = await client.lsp.text_document_code_lens_async(params)
    return [(it.range.start.line, it.command.title, it.command) for it in found]


async def fixes(client, path, line):
    place = types.Range(types.Position(line, 0), types.Position(line, 0))
    context = types.CodeActionContext([], only=[types.CodeActionKind.QuickFix])
    params = types.CodeActionParams(types.TextDocumentIdentifier(path.as_uri()), place, context)
    return await client.lsp.text_document_code_action_async(params)


async def test_a_comment_offers_to_do_or_to_answer_it_alone_and_with_those_of_other_documents(written, files):
    one, two = files

    assert [it[:2] for it in await lenses(written.client, one)] == [
        (0, "Odin: Do this"),
        (0, "Odin: Do all 2"),
        (3, "Odin: Answer this"),
    ]
    assert [it.title for it in await fixes(written.client, one, 1)] == ["Odin: Do this", "Odin: Do all 2"]
    assert [it.title for it in await fixes(written.client, one, 2)] == []
    together = (await fixes(written.client, two, 0))[1]
    assert together.command == "odin.edit"
    assert together.arguments[0]["text"].split("\n\n")[1:] == [
        "one.py, lines 1-2:\n> make it louder\n> and friendlier",
        "two.py, line 1:\n> rename it",
    ]


async def test_the_change_that_answers_a_comment_removes_it(written, files, wire, step):
    one, _ = files
    written.decide = lambda review: {
        "decisions": [{"hunkId": it["id"], "decision": "accept"} for it in review["files"][0]["hunks"]]
    }
    step(("Read", {"file_path": str(one)}))
    old = "# make it louder\n# and friendlier AI!\ndef greet():\n    return 'hello'"
    step(("EditTool", {"file_path": str(one), "old_string": old, "new_string": "def greet():\n    return 'HELLO!'"}))
    wire.play(says())
    [(_, _, command), *_] = await lenses(written.client, one)

    await written.client.lsp.workspace_execute_command_async(
        types.ExecuteCommandParams(command.command, command.arguments)
    )

    [said] = [it["text"] for it in wire.request["messages"][0]["content"] if "friendlier" in it.get("text", "")]
    assert "The change that answers a comment also removes the comment." in said
    assert [it[1] for it in await lenses(written.client, one)] == ["Odin: Answer this"]


async def test_those_of_the_whole_workspace_can_be_taken_together_and_a_setting_turns_them_off(written, files):
    one, two = files
    found = await written.client.command("commentRequests", kind="edit")

    assert [(it["uri"].rpartition("/")[2], it["text"]) for it in found["requests"]] == [
        ("closed.py", "tidy up"),
        (one.name, "make it louder\nand friendlier"),
        (two.name, "rename it"),
    ]
    assert "closed.py, line 1:\n> tidy up" in found["text"]
    written.client.changes_settings(commentRequests=False)
    assert await written.client.command("commentRequests", kind="edit") == {"requests": [], "text": ""}
    assert await lenses(written.client, one) == []
    assert not await fixes(written.client, one, 1)
