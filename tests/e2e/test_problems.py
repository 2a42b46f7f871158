"""What an edit does to diagnostics, on the wire: those of an editor, and those of a language server of Odin's own."""

import json
import os
import sys
from pathlib import Path

import pytest
from lsprotocol import types

from tests.e2e.conftest import ODIN, Screen, plain
from tests.e2e.steps import results, says
from tests.e2e.test_edits import accept_all

LIBRARY = "def total(items: list[int]) -> int:\n    return sum(items)\n"
CALLER = "from library import total\n\nprint(total([1]))\n"
BROKEN = LIBRARY.replace("items: list[int]", "items: list[int], start: int").replace("(items)", "(items, start)")
MENDED = CALLER.replace("total([1])", "total([1], 2)")


@pytest.fixture
def files(root):
    (root / "library.py").write_text(LIBRARY)
    (root / "caller.py").write_text(CALLER)
    return root / "library.py", root / "caller.py"


class Linting(Screen):
    """Says of its open documents what a type checker would."""

    def __init__(self, client):
        super().__init__(client)
        client.lsp.feature("odin/editor/diagnostics")(lambda params: self.diagnostics(plain(params)))

    def diagnostics(self, params):
        broken = any("start: int" in it.lines.text for it in self.documents.values())
        span = {"start": {"line": 2, "character": 6}, "end": {"line": 2, "character": 11}}
        missing = {"range": span, "severity": 1, "message": "1 argument is missing", "source": "toy", "code": "E1"}
        return {
            "items": [
                {
                    "uri": uri,
                    "version": document.version,
                    "diagnostics": [missing] if broken and "total([1]))" in document.lines.text else [],
                    "current": True,
                }
                for uri, document in self.documents.items()
                if uri in params["uris"] or not params["uris"]
            ]
        }


async def test_what_breaks_a_caller_in_the_editor_is_told_as_introduced_and_its_mend_as_fixed(
    start, anthropic, wire, step, files
):
    library, caller = files
    workspace = types.WorkspaceClientCapabilities(
        apply_edit=True, workspace_edit=types.WorkspaceEditClientCapabilities(document_changes=True)
    )
    odin = {**ODIN, "review": True, "editor": ["diagnostics"]}
    client = await start(odin=odin, workspace=workspace, **anthropic)
    screen = Linting(client)
    screen.decide = accept_all
    screen.open(library, caller)
    step(*(("Read", {"file_path": str(path)}) for path in files))
    step(("EditTool", {"file_path": str(library), "old_string": LIBRARY, "new_string": BROKEN}))
    wire.play(says("broken"))
    step(("EditTool", {"file_path": str(caller), "old_string": CALLER, "new_string": MENDED}))
    wire.play(says("mended"))

    outcome = await client.command("edit", text="change it", turnId="t")

    compared = [it["event"] for it in client.events if it["event"]["kind"] == "diagnosticsCompared"]
    assert [[len(it.get(key, [])) for key in ("introduced", "fixed")] for it in compared] == [[1, 0], [0, 1]]
    [introduced] = compared[0]["introduced"]
    assert (introduced["uri"], introduced["line"], introduced["message"]) == (
        caller.as_uri(),
        3,
        "1 argument is missing",
    )
    assert "Fixed:\n- caller.py:3 1 argument is missing [toy E1]" in results(wire)[-1]
    said = json.dumps(wire.request["messages"])
    assert "Introduced:\\n- caller.py:3 1 argument is missing [toy E1]" in said
    assert "these errors were not there before it" in said
    assert (outcome["answer"], outcome.get("diagnostics", [])) == ("mended", [])


async def test_in_a_terminal_a_language_server_of_its_own_tells_what_an_edit_broke(run, script, root, files, tmp_path):
    library, caller = files
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "pyright-langserver").symlink_to(Path(sys.executable).with_name("pyright-langserver"))
    settings = {
        "diagnostics": {"wait": 60},
        "languageServers": {"timeout": 60, "servers": {"basedpyright": {"enabled": False}, "ruff": {"enabled": False}}},
    }
    config = tmp_path / "config"
    (config / "odin").mkdir(parents=True)
    (config / "odin" / "odinconfig.json").write_text(json.dumps(settings))
    calls = [{"name": "Read", "arguments": {"file_path": str(path)}} for path in files]
    edit = {"file_path": str(library), "old_string": LIBRARY, "new_string": BROKEN}
    replies = script(
        {"calls": calls}, {"calls": [{"name": "EditTool", "arguments": edit}]}, {"text": "a"}, {"text": "b"}
    )

    path = f"{programs}:{os.environ['PATH']}"
    code, out, _ = await run("edit", "--yes", "--json", "go", PATH=path, XDG_CONFIG_HOME=str(config), **replies)

    events = [json.loads(line)["event"] for line in out.splitlines()]
    [compared] = [it for it in events if it["kind"] == "diagnosticsCompared"]
    assert [(it["uri"], it["line"], it["source"]) for it in compared["introduced"]] == [(caller.as_uri(), 3, "Pyright")]
    outcome = events[-1]["outcome"]
    assert (code, outcome["answer"]) == (0, "b")
    assert [(it["uri"], it["line"]) for it in outcome["diagnostics"]] == [(caller.as_uri(), 3)]
