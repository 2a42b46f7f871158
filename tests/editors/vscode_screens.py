"""Pictures for docs/vscode.md, taken from a real VS Code: `python -m tests.editors.vscode_screens`."""

import asyncio
import os
import shutil
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from playwright.async_api import Browser, async_playwright, expect

from tests.e2e.steps import play_calls, says
from tests.editors import code_server
from tests.editors.conftest import CHROMIUM_FLAGS, FOLDERS
from tests.editors.debian import CHROMIUM, fetched
from tests.editors.vscode import VSCode, start
from tests.editors.vscode_chat import Chat
from tests.support.wire import KEY, Wire, serving

PICTURES = Path(__file__).parents[2] / "docs" / "images"
THEMES = {
    "light": "Default Light Modern",
    "dark": "Default Dark Modern",
    "contrast": "Default High Contrast",
}
SIZE = (1180, 720)
SIDEBAR = 430
"""Where it ends."""
ASIDE = (900, 500)
"""Where the mouse points at nothing."""
SETTINGS = {
    "breadcrumbs.enabled": False,
    "diffEditor.renderSideBySide": True,
    "editor.minimap.enabled": False,
    "window.commandCenter": False,
    "workbench.layoutControl.enabled": False,
}
CODE = '''\
"""Greetings for those who come and go."""


def greet(name):
    return f"hello {name}"


def leave(name):
    return f"bye {name}"
'''
TEST = "from greet import greet\n\n\ndef test_greet():\n    assert greet('you') == 'hello you'\n"
ANSWER = """\
`greet` builds a string; nobody calls `leave` yet. What it needs:

1. a capital letter, as in `greet.py:5`
2. a default for those without a name

```python
def greet(name: str = "you") -> str:
    return f"Hello, {name.title()}!"
```
"""
TODOS = ["Read what is there", "Greet politely", "Run the tests"]
EDITS = [
    (
        'def greet(name):\n    return f"hello {name}"',
        'def greet(name: str = "you") -> str:\n    return f"Hello, {name.title()}!"',
    ),
    ('    return f"bye {name}"', '    return f"Goodbye, {name.title()}!"'),
]
COMMAND = "python3 -m pytest -q && git commit -am 'Greet politely'"


async def main() -> None:
    with _place() as place:
        async with serving() as wire, async_playwright() as playwright:
            chromium = shutil.which("chromium") or fetched(CHROMIUM)
            browser = await playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_FLAGS)
            vscode = await _started(place, browser, wire)
            try:
                await _take(vscode, wire, place / "greetings")
            finally:
                await vscode.close()
                await browser.close()


@contextmanager
def _place() -> Generator[Path]:
    """Its name is in the pictures."""
    with tempfile.TemporaryDirectory(prefix="odin-") as folder:
        place = Path(folder)
        for name in FOLDERS.values():
            (place / name).mkdir(parents=True, exist_ok=True, mode=0o700)
        (place / "greetings" / ".git").mkdir(parents=True)
        (place / "greetings" / "greet.py").write_text(CODE)
        (place / "greetings" / "test_greet.py").write_text(TEST)
        yield place


async def _started(place: Path, browser: Browser, wire: Wire) -> VSCode:
    env = {
        **os.environ,
        **{name: str(place / folder) for name, folder in FOLDERS.items()},
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "ANTHROPIC_API_KEY": KEY,
        "ANTHROPIC_BASE_URL": wire.url,
        "ODIN_TITLES": "false",
        "LC_ALL": "C.UTF-8",
    }
    code = code_server.installed(code_server.BUILDS["newest"])
    (place / "code").mkdir()
    vscode = await start(
        *(code, browser, place / "code", place / "greetings"),
        env=env,
        extensions=[code_server.packaged()],
        settings=SETTINGS,
        trust=True,
    )
    width, height = SIZE
    await vscode.page.set_viewport_size({"width": width, "height": height})
    return vscode


async def _take(vscode: VSCode, wire: Wire, folder: Path) -> None:
    chat, file = Chat(vscode), folder / "greet.py"
    await vscode.open_file(file)
    await chat.open()
    await _widen(vscode)

    play_calls(wire, ("Grep", {"pattern": "greet"}), ("Read", {"file_path": str(file)}))
    wire.play(says(ANSWER))
    await vscode.select(4, 5)
    await chat.say("what is wrong with it?")
    await expect(chat.turn.locator(".end")).to_contain_text("claude")
    await _picture(vscode, "chat")

    play_calls(wire, _todos(1))
    edits = [{"old_string": old, "new_string": new} for old, new in EDITS]
    play_calls(wire, ("MultiEditTool", {"file_path": str(file), "edits": edits}))
    play_calls(wire, _todos(2))
    play_calls(wire, ("ExecuteCommand", {"command": COMMAND}))
    wire.play(says("Not yet, then."))
    await chat.say("greet politely, then commit", "Edit")
    await vscode.lens("Accept Change").first.click()
    await expect(vscode.page.locator(".codelens-decoration", has_text="Accepted").first).to_be_visible()
    await _picture(vscode, "review")

    await vscode.reload()
    await expect(vscode.lens("Accept Change").first).to_be_visible()
    await chat.open()
    await expect(chat.review).to_be_visible()
    await _picture(vscode, "reloaded")

    await vscode.palette("Odin: Accept All Changes")
    await expect(chat.question).to_be_visible()
    await _picture(vscode, "approval")
    await chat.question.get_by_role("button", name="Deny", exact=True).click()
    await expect(chat.turn.get_by_text("Not yet, then.")).to_be_visible()


async def _widen(vscode: VSCode) -> None:
    """The sidebar, as people do who read in it."""
    box = await vscode.page.locator(".part.sidebar").bounding_box()
    assert box
    edge, middle = box["x"] + box["width"], box["y"] + box["height"] / 2
    await vscode.page.mouse.move(edge, middle)
    await vscode.page.mouse.down()
    await vscode.page.mouse.move(SIDEBAR, middle, steps=5)
    await vscode.page.mouse.up()


async def _picture(vscode: VSCode, name: str) -> None:
    await vscode.page.mouse.move(*ASIDE)
    for kind, theme in THEMES.items():
        await vscode.theme(theme)
        await vscode.command("notifications.clearAll")
        await vscode.screenshot(PICTURES / f"vscode-{name}-{kind}.png")


def _todos(done: int) -> tuple[str, dict[str, object]]:
    statuses = [*["completed"] * done, "in_progress", *["pending"] * len(TODOS)]
    todos = [{"id": text, "content": text, "status": status} for text, status in zip(TODOS, statuses, strict=False)]
    return "TodoWrite", {"todos": todos}


if __name__ == "__main__":
    asyncio.run(main())
