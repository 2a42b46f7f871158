"""Odin's own language servers behind a client that lends none."""

import os
import sys
from pathlib import Path

import pytest
from lsprotocol import types

from odin_lsp.workspace.uris import path_of
from tests.e2e.conftest import ODIN, Screen
from tests.e2e.steps import results, says
from tests.support.language_servers import own_processes


@pytest.fixture
def with_pyright(tmp_path):
    """An environment in which it is installed."""
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "pyright-langserver").symlink_to(Path(sys.executable).with_name("pyright-langserver"))
    return {"PATH": f"{programs}:{os.environ['PATH']}"}


async def test_a_lookup_is_answered_by_a_server_of_odins_own_which_ends_with_it(
    start, step, wire, anthropic, with_pyright, root
):
    (root / "user.py").write_text("from greet import greet\n\nprint(greet('x'))\n")
    (root / "other.py").write_text("class Other:\n    def greet(self): ...\n\n\nOther().greet()\n")
    patient = {"settings": {"languageServers": {"timeout": 60}}}
    client = await start(options=patient, **anthropic, **with_pyright)
    client.opens(root / "user.py", "from greet import greet\n\n# not saved\nprint(greet('x'))\n")
    assert (await client.command("state"))["languageServers"] == []
    step(("Lookup", {"what": "references", "symbol": "greet", "file_path": str(root / "greet.py"), "line": 1}))
    wire.play(says())

    await client.command("ask", text="who greets?", turnId="a")

    [told] = results(wire)
    assert "pyright" in told
    assert "print(greet('x'))" in told
    assert "other.py" not in told
    [server] = (await client.command("state"))["languageServers"]
    assert (server["name"], server["root"], server["state"]) == ("pyright", str(root), "ready")
    assert server["memory"] > 20 * 2**20
    told = [it["event"] for it in client.events if it["event"]["kind"] == "serversChanged"]
    states = [it["state"] for event in told for it in event["languageServers"] if it["name"] == "pyright"]
    assert states[0] == "starting"
    await client.until(lambda it: "'state': 'ready'" in str(it["event"].get("languageServers")))
    await client.leave()
    assert not [pid for pid in own_processes() if b"pyright" in Path(f"/proc/{pid}/cmdline").read_bytes()]


class Opening(Screen):
    """Opens what it is to change, as editors do."""

    async def apply(self, params):
        uris = [it.text_document.uri for it in params.edit.document_changes]
        self.open(*(path for uri in uris if uri not in self.documents and (path := path_of(uri)) is not None))
        return await super().apply(params)


async def test_a_rename_over_five_files_with_one_not_saved_is_one_review_decided_by_one_hunk(
    start, step, wire, anthropic, with_pyright, root
):
    users = [root / f"user_{n}.py" for n in range(4)]
    for path in users:
        path.write_text("from greet import greet\n\nprint('😀', greet('greet'))\n")
    edits = types.WorkspaceEditClientCapabilities(document_changes=True)
    workspace = types.WorkspaceClientCapabilities(apply_edit=True, workspace_edit=edits)
    settings = {"settings": {"languageServers": {"timeout": 60}}}
    client = await start(
        odin={**ODIN, "review": True}, workspace=workspace, options=settings, **anthropic, **with_pyright
    )
    screen = Opening(client)
    screen.decide = lambda it: {"decisions": [{"hunkId": it["files"][0]["hunks"][0]["id"], "decision": "accept"}]}
    screen.open(users[0])
    screen.type(users[0], "# greet, not saved\n", 0)
    unsaved = screen.text(users[0])
    rename = {"what": "rename", "file_path": "greet.py", "symbol": "greet", "new_name": "welcome"}
    step(("Refactor", rename))
    wire.play(says())

    outcome = await client.command("edit", text="rename it", turnId="a")

    assert results(wire)[0].startswith("Accepted: 9 changes in 5 files"), results(wire)
    [review] = screen.reviews
    assert (review["atomic"], len(review["files"])) == (True, 5)
    assert {it["state"] for it in outcome["receipts"]} == {"accepted"}
    new = {path: screen.text(path) for path in (root / "greet.py", *users)}
    assert new.pop(root / "greet.py") == (root / "greet.py").read_text().replace("def greet", "def welcome")
    old = {path: unsaved if path == users[0] else path.read_text() for path in users}
    assert new == {path: _renamed(text) for path, text in old.items()}


def _renamed(text):
    return text.replace("import greet", "import welcome").replace("greet('", "welcome('")
