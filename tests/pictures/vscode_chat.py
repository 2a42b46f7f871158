"""The chat, a review and an approval, for docs/vscode.md."""

import base64

from playwright.async_api import expect

from tests.e2e.steps import play_calls, says
from tests.editors.vscode_chat import PASTE, Chat
from tests.pictures.vscode import PICTURES, picture, widen, window
from tests.support.wire import serving

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
SKILL = "---\nname: deploy\ndescription: How this project is shipped\n---\n\nRun `make ship`.\n"
SERVERS = '{"mcpServers": {"time": {"command": "mcp-server-time"}}}\n'
COMMAND = "python3 -m pytest -q && git commit -am 'Greet politely'"


async def take() -> None:
    files = {
        "greet.py": CODE,
        "test_greet.py": TEST,
        ".claude/skills/deploy/SKILL.md": SKILL,
        ".mcp.json": SERVERS,
    }
    async with serving() as wire, window(wire, "greetings", files) as (vscode, folder):
        chat, file = Chat(vscode), folder / "greet.py"
        await vscode.open_file(file)
        await chat.open()
        await widen(vscode)

        play_calls(wire, ("Grep", {"pattern": "greet"}), ("Read", {"file_path": str(file)}))
        wire.play(says(ANSWER))
        await vscode.select(4, 5)
        await chat.say("what is wrong with it?")
        await expect(chat.turn.locator(".end")).to_contain_text("claude")
        await picture(vscode, "chat")

        play_calls(wire, _todos(1))
        edits = [{"old_string": old, "new_string": new} for old, new in EDITS]
        play_calls(wire, ("MultiEditTool", {"file_path": str(file), "edits": edits}))
        play_calls(wire, _todos(2))
        play_calls(wire, ("ExecuteCommand", {"command": COMMAND}))
        wire.play(says("Not yet, then."))
        await chat.say("greet politely, then commit", "Edit")
        await vscode.lens("Accept Change").first.click()
        await expect(vscode.page.locator(".codelens-decoration", has_text="Accepted").first).to_be_visible()
        await picture(vscode, "review")

        await vscode.reload()
        await expect(vscode.lens("Accept Change").first).to_be_visible()
        await chat.open()
        await expect(chat.review).to_be_visible()
        await picture(vscode, "reloaded")

        await vscode.palette("Odin: Accept All Changes")
        await expect(chat.question).to_be_visible()
        await picture(vscode, "approval")
        await chat.question.get_by_role("button", name="Deny", exact=True).click()
        await expect(chat.turn.get_by_text("Not yet, then.")).to_be_visible()

        shot = base64.b64encode((PICTURES / "vscode-review-light.png").read_bytes()).decode()
        wire.play(says("A review in VS Code: the old text on the left, the proposed one on the right."))
        await chat.box.evaluate(PASTE, shot)
        await expect(chat.page.get_by_role("button", name="Do not send shot.png")).to_be_visible()
        await chat.say("what does this show?")
        await expect(chat.turn.locator(".end")).to_contain_text("claude")
        await picture(vscode, "image", ["dark"])

        await vscode.palette("Odin: Show Extensions…")
        await expect(vscode.page.locator(".quick-input-list")).to_contain_text("deploy")
        await vscode.screenshot(PICTURES / "vscode-extensions-dark.png")
        await vscode.press("Escape")


def _todos(done: int) -> tuple[str, dict[str, object]]:
    statuses = [*["completed"] * done, "in_progress", *["pending"] * len(TODOS)]
    todos = [{"id": text, "content": text, "status": status} for text, status in zip(TODOS, statuses, strict=False)]
    return "TodoWrite", {"todos": todos}
