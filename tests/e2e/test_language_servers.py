"""Odin's own language servers behind a client that lends none."""

import os
import sys
from pathlib import Path

import pytest

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
    client = await start(**anthropic, **with_pyright)
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
    await client.leave()
    assert not [pid for pid in own_processes() if b"pyright" in Path(f"/proc/{pid}/cmdline").read_bytes()]
