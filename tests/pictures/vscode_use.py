"""An edit where the text is, code to apply, sessions, models, a narrow sidebar and the first run."""

import json
from pathlib import Path

from playwright.async_api import expect

from tests.e2e.steps import play_calls, says
from tests.editors.vscode import VSCode
from tests.editors.vscode_chat import Chat
from tests.pictures.vscode import ASIDE, NARROW, PICTURES, picture, widen, window
from tests.support import wire as kit
from tests.support.wire import Wire, anthropic_models, serving

CART = '''\
"""Prices of what is in a cart."""


def total(items):
    sum = 0
    for item in items:
        sum = sum + item["price"]
    return sum


def discount(amount):
    return amount * 0.9
'''
OLD = '    sum = 0\n    for item in items:\n        sum = sum + item["price"]\n    return sum'
NEW = '    return sum(item["price"] for item in items)'
FILE = "shop/checkout/cart.py"
ANSWER = """\
`total` adds up by hand, and hides the built-in `sum`. Shorter:

```python shop/checkout/cart.py
def total(items):
    return sum(item["price"] for item in items)
```
"""
TABLE = """\
| function | called from | tested |
| --- | --- | --- |
| `total` | checkout, invoices | yes |
| `discount` | nowhere | no |
"""


async def take() -> None:
    async with serving() as wire, window(wire, "shop", {FILE: CART}) as (vscode, folder):
        chat, file = Chat(vscode), folder / FILE
        await vscode.open_file(file)
        await chat.open()
        await widen(vscode)
        await _take_inline(vscode, wire, file)
        await _take_code(vscode, chat, wire)
        await _take_lists(vscode, wire)
        await _take_narrow(vscode, chat, wire, file)
    async with serving() as wire, window(wire, "shop", {FILE: CART}, PATH="/usr/bin:/bin") as (vscode, folder):
        await vscode.open_file(folder / FILE)
        await vscode.command("odin.chat.focus")
        await widen(vscode)
        await expect(vscode.webview().get_by_role("button", name="Install").first).to_be_visible()
        await picture(vscode, "first-run", ["dark"])


async def _take_inline(vscode: VSCode, wire: Wire, file: Path) -> None:
    """While it is written, and as it waits for the decision."""
    edit = {"file_path": str(file), "old_string": OLD, "new_string": NEW}
    *block, _ = kit.anthropic_call(0, "toolu_0", "EditTool", json.dumps(edit).removesuffix('in items)"}'))
    wire.play(kit.Answer([kit.anthropic_sse(kit.anthropic_start(), *block)], held=True))
    box = vscode.page.locator(".review-widget")
    await _ask_here(vscode)
    await picture(vscode, "inline-prompt", ["dark"])
    await vscode.press("Enter")
    await expect(box.locator(".comment-body").last).to_contain_text("return sum(")
    await picture(vscode, "inline-writing", ["dark"])
    await vscode.press("Escape")
    await expect(box).to_have_count(0)

    play_calls(wire, ("Read", {"file_path": str(file)}))
    play_calls(wire, ("EditTool", edit))
    wire.play(says("It is shorter now."))
    await _ask_here(vscode)
    await vscode.press("Enter")
    await expect(vscode.lens("Accept")).to_be_visible()
    await picture(vscode, "inline", ["light", "contrast", "dark"])
    await vscode.press("Alt+Backspace")
    await expect(box).to_have_count(0)
    await expect(vscode.lens("Accept")).to_have_count(0)


async def _ask_here(vscode: VSCode) -> None:
    await vscode.select(5, 8)
    await vscode.press("Control+I")
    await expect(vscode.page.locator(".review-widget .monaco-editor.focused")).to_be_visible()
    await vscode.type("use the built-in sum")


async def _take_code(vscode: VSCode, chat: Chat, wire: Wire) -> None:
    await vscode.command("odin.vscode.newSession")
    wire.play(says(ANSWER))
    await chat.say("can this be shorter?")
    await expect(chat.turn.locator(".end")).to_contain_text("claude")
    await chat.turn.locator("pre").first.hover()
    await vscode.screenshot(PICTURES / "vscode-apply-dark.png")


async def _take_lists(vscode: VSCode, wire: Wire) -> None:
    """Sessions beside the chat, and models to select."""
    await vscode.command("odin.sessions.focus")
    await expect(vscode.page.get_by_role("treeitem").filter(has_text="can this be shorter?")).to_be_visible()
    await picture(vscode, "sessions", ["dark"])
    await vscode.page.get_by_role("button", name="Sessions Section").click()
    await vscode.command("odin.chat.focus")
    wire.play(anthropic_models())
    await vscode.palette("Odin: Select Model…")
    await vscode.page.mouse.move(*ASIDE)  # what it points at would be explained
    await vscode.picks()
    await vscode.screenshot(PICTURES / "vscode-models-dark.png")
    await vscode.press("Escape")


async def _take_narrow(vscode: VSCode, chat: Chat, wire: Wire, file: Path) -> None:
    play_calls(wire, ("Read", {"file_path": str(file)}))
    play_calls(wire, ("EditTool", {"file_path": str(file), "old_string": OLD, "new_string": NEW}))
    play_calls(wire, ("ExecuteCommand", {"command": "python3 -m pytest -q shop/checkout && git push"}))
    wire.play(says(TABLE))
    await chat.say("shorten it, then push", "Edit")
    await expect(chat.review).to_be_visible()
    await widen(vscode, NARROW)
    await vscode.palette("Odin: Accept All Changes")
    await expect(chat.question).to_be_visible()
    await chat.question.get_by_role("button", name="Deny", exact=True).click()
    await expect(chat.turn.locator("table")).to_be_visible()
    await picture(vscode, "narrow", ["light", "contrast", "dark"])
