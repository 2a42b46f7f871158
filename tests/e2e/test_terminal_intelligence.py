"""In a terminal, with a language server of Odin's own: a rename over files, and what an edit does to a caller."""

import json
import os
import sys
from pathlib import Path

import pytest

from tests.e2e.test_problems import BROKEN, CALLER, LIBRARY, MENDED
from tests.e2e.test_terminal import on_a_terminal

SETTINGS = {
    "diagnostics": {"wait": 60},
    "languageServers": {"timeout": 60, "servers": {"basedpyright": {"enabled": False}, "ruff": {"enabled": False}}},
}


@pytest.fixture
def with_pyright(tmp_path):
    """An environment in which it is installed, and waited for however busy the machine is."""
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "pyright-langserver").symlink_to(Path(sys.executable).with_name("pyright-langserver"))
    config = tmp_path / "config" / "odin"
    config.mkdir(parents=True)
    (config / "odinconfig.json").write_text(json.dumps(SETTINGS))
    return {"PATH": f"{programs}:{os.environ['PATH']}", "XDG_CONFIG_HOME": str(config.parent)}


def calls(*each):
    return {"calls": [{"name": name, "arguments": arguments} for name, arguments in each]}


async def test_a_rename_over_five_files_is_one_review_and_right_byte_for_byte(run, script, root, with_pyright):
    """With ends of lines of all kinds, characters of two units, and the name in strings and comments."""
    old = {
        "greet.py": b"def greet(name):\n    return f'hello {name}'\n",
        "one.py": b"from greet import greet\r\n\r\nprint('greet', greet('x'))  # greet\r\n",
        "two.py": "from greet import greet\n\nprint('😀 greet', greet('é'))".encode(),
        "package/__init__.py": b"",
        "package/three.py": b"import greet\n\nsaid = [greet.greet(it) for it in 'greet']\n",
        "package/four.py": b"from greet import greet as hail\n\nhail('greet')\n",
        "apart.py": b"class Other:\n    def greet(self): ...\n\n\nOther().greet()\n",
    }
    for name, content in old.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_bytes(content)
    rename = {"what": "rename", "file_path": "greet.py", "symbol": "greet", "new_name": "welcome"}
    replies = script(calls(("Refactor", rename)), {"text": "renamed"})

    code, out, _ = await run("edit", "--yes", "--json", "rename it", **with_pyright, **replies)

    events = [json.loads(line)["event"] for line in out.splitlines()]
    assert (code, events[-1]["outcome"]["answer"]) == (0, "renamed")
    [review] = [it["proposal"] for it in events if it["kind"] == "reviewOpened"]
    assert (review["atomic"], len(review["files"])) == (True, 5)
    assert {it["state"] for it in events[-1]["outcome"]["receipts"]} == {"accepted"}
    new = {
        **old,
        "greet.py": old["greet.py"].replace(b"def greet", b"def welcome"),
        "one.py": old["one.py"].replace(b"import greet", b"import welcome").replace(b"greet('x", b"welcome('x"),
        "two.py": old["two.py"].replace(b"import greet", b"import welcome").replace(b"greet('", b"welcome('"),
        "package/three.py": old["package/three.py"].replace(b"greet.greet", b"greet.welcome"),
        "package/four.py": old["package/four.py"].replace(b"import greet", b"import welcome"),
    }
    assert {name: (root / name).read_bytes() for name in old} == new


async def test_a_caller_that_an_edit_broke_is_told_on_the_screen_and_so_is_its_mend(script, root, with_pyright):
    library, caller = root / "library.py", root / "caller.py"
    library.write_text(LIBRARY)
    caller.write_text(CALLER)
    replies = script(
        calls(*(("Read", {"file_path": str(path)}) for path in (library, caller))),
        calls(("EditTool", {"file_path": str(library), "old_string": LIBRARY, "new_string": BROKEN})),
        calls(("EditTool", {"file_path": str(caller), "old_string": CALLER, "new_string": MENDED})),
        {"text": "both are changed"},
    )

    screen = await on_a_terminal(root, ["edit", "--yes", "go"], {**with_pyright, **replies})

    introduced, fixed = (f"  {sign} {caller}:3 " for sign in "+-")
    told = screen.replace("\r\n", "")
    assert introduced in told
    assert told.index(introduced) < told.index(fixed) < told.index("both are changed")
    assert "left by this turn" not in told
    assert (library.read_text(), caller.read_text()) == (BROKEN, MENDED)
