"""Messages of people whose editor has no input box: a document is opened, and sent as it stands there."""

import asyncio
from pathlib import Path

import pytest
from lsprotocol import types

from odin_lsp.agent.plans import MARK
from odin_lsp.workspace.uris import path_of
from tests.e2e.steps import says

SELECTION = types.Range(types.Position(0, 0), types.Position(1, 0))
POINT = types.Range(types.Position(0, 0), types.Position(0, 0))


@pytest.fixture
def plain(start, anthropic, root):
    """A client that knows nothing of Odin, with a document that is open."""

    async def plain(*, shows=True):
        window = types.WindowClientCapabilities(show_document=types.ShowDocumentClientCapabilities(shows))
        client = await start(odin={}, window=window, **anthropic)
        client.opens(root / "greet.py")
        return client

    return plain


async def actions(client, path, span=POINT):
    context = types.CodeActionContext([])
    params = types.CodeActionParams(types.TextDocumentIdentifier(path.as_uri()), span, context)
    return {it.title: it for it in await client.lsp.text_document_code_action_async(params)}


async def run(client, command):
    params = types.ExecuteCommandParams(command.command, command.arguments)
    return await client.lsp.workspace_execute_command_async(params)


async def until(condition):
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.01)


async def opened(client, path, title):
    """The document that the action has opened for a message."""
    before = len(client.lsp.shown_documents)
    await run(client, (await actions(client, path, SELECTION))[title])
    await until(lambda: len(client.lsp.shown_documents) > before)
    shown = client.lsp.shown_documents[-1]
    return Path(path_of(shown.uri)), shown.selection.start.line


def said(wire):
    """What the user has sent, with what went along."""
    return "\n".join(block.get("text", "") for block in wire.sent[-1].body["messages"][-1]["content"])


async def test_what_stands_in_the_document_is_sent_with_what_was_selected_and_saving_sends_nothing(plain, wire, root):
    client = await plain()
    document, line = await opened(client, root / "greet.py", "Odin: Edit…")
    client.opens(document)
    head = document.read_text()
    assert head.startswith("<!-- Odin: Edit greet.py, line 1.\n")
    assert head.count("\n") == line
    client.types(document, 2, "make it louder\nand {friendlier}", line)
    client.lsp.text_document_did_save(types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(document.as_uri())))
    client.types(root / "greet.py", 2, "import os\n")
    offered = await actions(client, document, SELECTION)
    assert list(offered) == ["Odin: Send this message"]
    assert not wire.sent
    wire.play(says("louder"))

    answer = await run(client, offered["Odin: Send this message"])

    assert answer == {"begun": True}
    await until(lambda: len(client.lsp.shown_documents) == 2)
    assert "make it louder\nand {friendlier}" in said(wire)
    assert "def greet(name):" in said(wire), "the lines that were selected, not those that are there now"
    assert "Write your message" not in said(wire)
    assert "louder" in Path(path_of(client.lsp.shown_documents[1].uri)).read_text()


@pytest.mark.parametrize(("title", "mode"), [("Odin: Ask…", "ask"), ("Odin: Plan…", "plan"), ("Odin: Edit…", "edit")])
async def test_each_mode_has_its_document_and_a_lens_above_it(plain, wire, root, title, mode):
    client = await plain()
    document, line = await opened(client, root / "greet.py", title)
    client.opens(document)
    client.types(document, 2, "why?", line)
    params = types.CodeLensParams(types.TextDocumentIdentifier(document.as_uri()))
    [lens] = await client.lsp.text_document_code_lens_async(params)
    wire.play(says("because"))

    await run(client, lens.command)

    assert (lens.range.start.line, lens.command.title) == (0, "Odin: Send this message")
    await until(lambda: len(client.lsp.shown_documents) == 2)
    state = await client.command("state")
    assert [(it["body"], it["mode"]) for it in state["messages"]] == [("why?", f"{mode}_mode")]


async def test_an_editor_that_shows_no_documents_is_told_where_it_is_and_sends_what_was_saved(plain, wire, root):
    client, code = await plain(shows=False), root / "greet.py"
    await run(client, (await actions(client, code, SELECTION))["Odin: Ask…"])
    await until(lambda: client.lsp.messages)
    [told] = [it.message for it in client.lsp.messages]
    document = Path(told.partition(" in ")[2].partition(" and save")[0])
    assert not await actions(client, code), "there is no message yet"
    document.write_text(f"{document.read_text()}\nwho calls it?\n")
    offered = await actions(client, code)
    assert list(offered) == [f"Odin: Send the message saved in {document.name}"]
    wire.play(says("nobody"))

    await run(client, next(iter(offered.values())))

    await until(lambda: any("nobody" in it.message for it in client.lsp.messages))
    assert "who calls it?" in said(wire)
    assert not await actions(client, code), "it was sent"


async def test_an_empty_document_and_one_that_odin_has_not_opened_are_not_sent(plain, root):
    client = await plain()
    document, _ = await opened(client, root / "greet.py", "Odin: Edit…")
    client.opens(document)

    for path, reason in ((document, "contains no message yet"), (root / "greet.py", "was not opened for a message")):
        with pytest.raises(Exception, match=reason):
            await client.command("send", uri=path.as_uri())


async def test_a_message_in_a_document_is_completed_as_one_in_a_chat(plain, root):
    client = await plain()
    document, line = await opened(client, root / "greet.py", "Odin: Ask…")
    client.opens(document)
    client.types(document, 2, "\n/co\n@gr\n/co", line)

    async def completed(line):
        place = types.CompletionParams(types.TextDocumentIdentifier(document.as_uri()), types.Position(line, 3))
        found = await client.lsp.text_document_completion_async(place)
        return [it.label for it in found.items] if found else None

    assert "/compact" in await completed(line + 1)
    assert await completed(line + 2) == ["@greet.py"]
    assert await completed(line + 3) is None


async def test_what_is_wrong_with_a_plan_is_written_in_a_document_too(plain, wire, root):
    client = await plain()
    plan = root / "plan.md"
    plan.write_text(f"{MARK}\n\n- [ ] one\n")
    client.opens(plan)
    params = types.CodeLensParams(types.TextDocumentIdentifier(plan.as_uri()))
    lenses = await client.lsp.text_document_code_lens_async(params)
    await run(client, next(it.command for it in lenses if it.command.title == "Odin: Plan on…"))
    await until(lambda: client.lsp.shown_documents)
    document = Path(path_of(client.lsp.shown_documents[0].uri))
    client.types(plan, 2, "- [ ] two\n", 3)
    client.opens(document, f"{document.read_text()}\nleave one out\n")
    wire.play(says("none"))

    await client.command("send", uri=document.as_uri())

    assert "The plan is not right yet: leave one out" in said(wire)
    assert "- [ ] two" in said(wire), "the plan as it is when the message is sent"
