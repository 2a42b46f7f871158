"""The order in which an editor hears of a document for a message: eglot drops what comes before a command's answer."""

import asyncio

import pytest

from odin_lsp.server.server import OdinServer
from odin_lsp.server.serving import serve


@pytest.fixture
async def plain(channel, client, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    task = asyncio.create_task(serve(OdinServer(), channel))
    window = {"showDocument": {"support": True}}
    client.request(
        0, "initialize", {"processId": None, "capabilities": {"window": window}, "rootUri": tmp_path.as_uri()}
    )
    await client.receive()
    yield client
    channel.hang_up()
    async with asyncio.timeout(10):
        await task


@pytest.mark.parametrize(
    ("command", "argument", "method"),
    [
        ("odin.prompt", {"mode": "edit"}, "window/showDocument"),
        ("odin.send", {"uri": "file:///unknown.md"}, "window/showMessage"),
    ],
)
async def test_a_command_that_begins_something_is_answered_before_anything_else(plain, command, argument, method):
    begin = {"command": command, "argument": argument}
    plain.request(1, "workspace/executeCommand", {"command": "odin.begin", "arguments": [begin]})

    answer, said = await plain.receive(), await plain.receive()

    assert answer["result"] == {"begun": True}
    assert said["method"] == method
