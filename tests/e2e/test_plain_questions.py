"""What Odin asks in editors that know nothing of it: by a message with buttons, and by code actions."""

import asyncio

import pytest
from lsprotocol import types

from tests.e2e.steps import results, says

COMMAND = "python3 -c 'print(6 * 7)'"


@pytest.fixture
async def client(start, anthropic, root, wire, step):
    """A turn runs in it that wants to run a command."""
    documents = types.TextDocumentClientCapabilities(code_action=types.CodeActionClientCapabilities())
    client = await start(odin={}, text_document=documents, **anthropic)
    client.opens(root / "greet.py")
    step(("ExecuteCommand", {"command": COMMAND, "description": "count"}))
    wire.play(says())
    return client


async def answers(client, path):
    """The code actions that answer the question, as soon as there is one."""
    place = types.Range(types.Position(0, 0), types.Position(0, 0))
    document = types.TextDocumentIdentifier(path.as_uri())
    params = types.CodeActionParams(document, place, types.CodeActionContext([], only=["odin.answer"]))
    async with asyncio.timeout(60):
        while not (found := await client.lsp.text_document_code_action_async(params)):
            await asyncio.sleep(0.01)
    return found


async def press(client, action):
    params = types.ExecuteCommandParams(action.command, action.arguments)
    return await client.lsp.workspace_execute_command_async(params)


async def test_where_messages_with_buttons_are_unknown_code_actions_answer(client, wire, root):
    turn = asyncio.create_task(client.command("edit", text="count"))
    allow, *_ = await answers(client, root / "greet.py")
    async with asyncio.timeout(10):
        while not any("Choose the answer in the code actions." in it.message for it in client.lsp.messages):
            await asyncio.sleep(0.01)

    assert await press(client, allow) == {"answered": True}

    await turn
    assert "42" in results(wire)[0]
    assert allow.title.startswith("Odin: Allow once (")
    assert await press(client, allow) == {"answered": False}, "it waits no more"


async def test_a_message_that_nobody_sees_does_not_keep_code_actions_from_answering(client, wire, root):
    asked, given_up = asyncio.Event(), asyncio.Event()

    @client.lsp.feature(types.WINDOW_SHOW_MESSAGE_REQUEST)
    async def unseen(params):
        asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            given_up.set()

    turn = asyncio.create_task(client.command("edit", text="count"))
    offered = await answers(client, root / "greet.py")
    await asked.wait()

    await press(client, next(it for it in offered if it.title.startswith("Odin: Deny")))

    await turn
    assert "42" not in results(wire)[0]
    async with asyncio.timeout(10):
        await given_up.wait()


async def test_what_is_answered_in_the_message_is_offered_no_more(client, wire, root):
    @client.lsp.feature(types.WINDOW_SHOW_MESSAGE_REQUEST)
    def pressed(params):
        return types.MessageActionItem("Allow once")

    await client.command("edit", text="count")

    assert "42" in results(wire)[0]
    context = types.CodeActionContext([], only=["odin.answer"])
    place = types.Range(types.Position(0, 0), types.Position(0, 0))
    document = types.TextDocumentIdentifier((root / "greet.py").as_uri())
    assert not await client.lsp.text_document_code_action_async(types.CodeActionParams(document, place, context))
