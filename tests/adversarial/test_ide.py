"""What others can do with the doors that are open for agents in a terminal."""

import asyncio
import json
import socket

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from odin_lsp.ide import claude as claude_door
from odin_lsp.ide import http
from odin_lsp.workspace.text import Position
from tests.support.ide import HEADER, claude, found, gemini, world
from tests.support.reviewing import reject

SECRET = "TOKEN=abc\n"


@pytest.fixture
def root(tmp_path):
    root = tmp_path / "workspace"
    root.mkdir()
    (root / "greet.py").write_text("hello\n")
    (root / ".env").write_text(SECRET)
    return root


@pytest.fixture
def locks(tmp_path, monkeypatch):
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    return tmp_path / "claude" / "ide"


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Of Gemini CLI."""
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    return tmp_path / "temporary" / "gemini" / "ide"


async def refusal(locks, path="/", **headers):
    lock, said = await found(locks, "*.lock")
    given = {HEADER: said["authToken"], **{name.replace("_", "-"): value for name, value in headers.items()}}
    url = f"ws://127.0.0.1:{lock.stem}{path}"
    with pytest.raises(InvalidStatus) as refused:
        async with connect(url, additional_headers=given, subprotocols=["mcp"], proxy=None):
            pass
    return refused.value.response.status_code


async def answered(files, request, *, token=None, body=b""):
    """The status of a request that is made by hand."""
    _, said = await found(files, "*.json")
    token = said["authToken"] if token is None else token
    reader, writer = await asyncio.open_connection("127.0.0.1", said["port"])
    head = request.format(port=said["port"], token=token).replace("\n", "\r\n")
    writer.write(head.encode() + b"\r\n\r\n" + body)
    async with asyncio.timeout(30):
        line = await reader.readline()
    writer.close()
    return int(line.split()[1]) if line else None


POST = "POST /mcp HTTP/1.1\nHost: 127.0.0.1:{port}\nAuthorization: Bearer {token}"


@pytest.mark.parametrize("token", ["", "wrong", "0" * 64, "é" * 32])
async def test_ide_01_nobody_comes_in_without_the_token(root, locks, files, token):
    async with world(root, "claude", "gemini") as odin:
        assert await refusal(locks, **{HEADER: token.encode().decode("latin-1")}) == 401
        assert await answered(files, POST, token=token) == 401
        assert odin.watched == []


async def test_ide_01_the_token_of_one_door_opens_no_other(root, locks, files):
    async with world(root, "claude", "gemini"):
        _, said = await found(locks, "*.lock")
        assert await answered(files, POST, token=said["authToken"]) == 401


async def test_ide_02_a_page_in_a_browser_is_kept_out_though_it_had_the_token(root, locks, files):
    async with world(root, "claude", "gemini"):
        assert await refusal(locks, Origin="https://example.com") == 403
        assert await refusal(locks, Origin="null") == 403
        assert await answered(files, POST + "\nOrigin: http://127.0.0.1:{port}") == 403
        assert await answered(files, POST.replace("127.0.0.1:{port}", "rebound.example.com:{port}")) == 403


async def test_ide_03_there_is_one_path_and_no_more(root, locks, files):
    async with world(root, "claude", "gemini"):
        assert await refusal(locks, "/../etc/passwd") == 404
        assert await answered(files, POST.replace("/mcp", "/")) == 404
        assert await answered(files, POST.replace("POST", "PUT")) == 405
        assert await answered(files, POST) == 400


async def test_ide_03_only_this_machine_reaches_it(root, locks, files):
    async with world(root, "claude", "gemini"):
        lock, _ = await found(locks, "*.lock")
        _, said = await found(files, "*.json")
        others = {it[4][0] for it in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
        for address in others - {"127.0.0.1"}:
            for port in (int(lock.stem), said["port"]):
                with pytest.raises(ConnectionRefusedError):
                    await asyncio.open_connection(address, port)


async def test_ide_04_what_is_too_long_ends_one_connection(root, locks, files, monkeypatch):
    monkeypatch.setattr(claude_door, "MAX_FRAME", 4096)
    monkeypatch.setattr(http, "MAX_FRAME", 4096)
    async with world(root, "claude", "gemini"), claude(locks) as good:
        async with claude(locks) as bad:
            await bad.socket.send("x" * 5000)
            async with asyncio.timeout(30):
                await bad.socket.wait_closed()
            assert bad.socket.close_code == 1009
        assert (await good.value("getWorkspaceFolders"))["success"] is True

        assert await answered(files, POST + "\nContent-Length: 5000") == 413
        assert await answered(files, POST + "\nContent-Length: 99999999999999999999") == 413
        assert await answered(files, POST + "\nTransfer-Encoding: chunked") == 413
        assert await answered(files, POST + "\nX: " + "x" * 20_000) is None


GARBAGE = [
    "not json",
    "[]",
    "{}",
    "null",
    '{"jsonrpc": "2.0", "id": 1}',
    '{"jsonrpc": "2.0", "id": {}, "method": "tools/call"}',
    '{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": []}',
    '{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "openDiff", "arguments": {"tab_name": 1}}}',
    '{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "openDiff", "arguments": "all"}}',
    '{"jsonrpc": "2.0", "id": 7, "method": "initialize", "params": 1}',
    "[" * 100_000,
]


@pytest.mark.parametrize("garbage", GARBAGE, ids=range(len(GARBAGE)))
async def test_ide_05_garbage_changes_nothing(root, locks, files, garbage):
    async with world(root, "claude", "gemini") as odin, claude(locks) as code, gemini(files) as cli:
        await code.socket.send(garbage)
        await code.socket.send(garbage.encode() + b"\xff")
        status = await answered(files, f"{POST}\nContent-Length: {len(garbage)}", body=garbage.encode())

        assert status in (200, 202, 400, 404)
        assert (await code.value("getWorkspaceFolders"))["success"] is True
        assert len((await cli.ask("tools/list"))["tools"]) == 2
        assert odin.editor.reviews == []


async def test_ide_05_a_text_that_no_file_could_have_is_refused(root, locks):
    async with world(root, "claude") as odin, claude(locks) as code:
        names = {"old_file_path": str(root / "greet.py"), "new_file_path": str(root / "greet.py"), "tab_name": "tab"}
        lone = json.loads('"\\ud800"')

        refused = await code.ask("tools/call", name="openDiff", arguments={**names, "new_file_contents": lone})

        assert "needs the texts" in refused["message"]
        assert odin.editor.reviews == []


async def test_ide_06_a_file_that_is_denied_is_neither_changed_nor_told_of(root, locks, files):
    (root / "mine.txt").write_text("mine\n")
    (root / "fixed.txt").write_text("fixed\n")
    settings = {
        "files": {"deny": ["mine.txt"]},
        "rules": [{"tool": "EditTool", "path": "fixed.txt", "decision": "deny", "reason": "it is frozen"}],
    }
    async with world(root, "claude", "gemini", **settings) as odin, claude(locks) as code, gemini(files) as cli:
        for name in (".env", "mine.txt", "fixed.txt"):
            before = (root / name).read_text()
            assert await code.diff(root / name, "taken over\n") == ["DIFF_REJECTED", "tab"]
            await cli.call("openDiff", filePath=str(root / name), newContent="taken over\n")
            await cli.until_told("ide/diffRejected", lambda it, path=str(root / name): it["filePath"] == path)
            assert (root / name).read_text() == before
        assert odin.editor.reviews == []
        assert any("it is frozen" in it for it in odin.editor.notices)

        uri = odin.open(root / ".env")
        odin.sight.look(uri, Position(0, 0), Position(0, 9))
        assert (await code.value("getLatestSelection"))["success"] is False
        assert (await code.value("getOpenEditors"))["tabs"] == []
        for tool in ("checkDocumentDirty", "saveDocument", "openFile"):
            assert "is hidden" in (await code.call(tool, filePath=str(root / ".env")))[0]
        assert SECRET.strip() not in json.dumps([code.told, cli.told])
        assert odin.editor.shown == []


@pytest.mark.parametrize("name", ["../outside.txt", "link.txt", "/etc/hostname"])
async def test_ide_07_what_is_outside_of_the_workspace_is_not_read(root, locks, name):
    outside = root.parent / "outside.txt"
    outside.write_text("outside\n")
    (root / "link.txt").symlink_to(outside)
    async with world(root, "claude") as odin, claude(locks) as code:
        path = str(root / name)
        names = {"old_file_path": path, "new_file_path": path, "tab_name": "tab"}

        told = await code.ask("tools/call", name="openDiff", arguments={**names, "new_file_contents": "x\n"})

        assert told["isError"] is True
        assert "outside of the workspace" in told["content"][0]["text"]
        assert odin.editor.reviews == []
        assert outside.read_text() == "outside\n"


async def test_ide_08_an_agent_cannot_close_what_odin_itself_proposes(root, locks):
    async with world(root, "claude") as odin, claude(locks) as one, claude(locks) as two:
        odin.editor.decide = lambda _: None
        waiting = asyncio.create_task(one.diff(root / "greet.py", "bye\n", "tab"))
        async with asyncio.timeout(30):
            while not (proposals := list(odin.core.desk.proposals)):
                await asyncio.sleep(0.02)

        for name in ("tab", proposals[0].id, str(root / "greet.py"), proposals[0].turn_id):
            assert await two.call("close_tab", tab_name=name) == ["TAB_CLOSED"]
        assert await two.call("closeAllDiffTabs") == ["CLOSED_0_DIFF_TABS"]

        assert not waiting.done()
        assert list(odin.core.desk.proposals) == proposals
        odin.editor.decide = reject
        await one.call("close_tab", tab_name="tab")
        await waiting


async def test_ide_09_a_folder_that_is_a_link_is_not_written_to(root, tmp_path, locks):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    locks.parent.mkdir()
    locks.symlink_to(elsewhere)
    async with world(root, "claude") as odin:
        async with asyncio.timeout(30):
            while not odin.editor.notices:
                await asyncio.sleep(0.02)

        assert odin.editor.notices[0].startswith("claude cannot use this editor as its IDE")
        assert list(elsewhere.iterdir()) == []


async def test_ide_10_a_workspace_cannot_open_a_door(root, locks, files):
    (root / "odinconfig.json").write_text(json.dumps({"ide": ["claude", "gemini"]}))
    async with world(root) as odin:
        odin.project.tell(flags={})

        assert odin.project.now.is_trusted
        assert odin.project.now.config.ide == ()
        assert any("`ide`" in str(it) for it in odin.project.now.problems)
        assert not locks.exists()
        assert not files.exists()


async def test_ide_11_so_many_agents_and_no_more(root, locks, monkeypatch):
    monkeypatch.setattr(claude_door, "MOST_CONNECTIONS", 1)
    async with world(root, "claude"), claude(locks) as code:
        assert await refusal(locks) == 503
        assert (await code.value("getWorkspaceFolders"))["success"] is True
