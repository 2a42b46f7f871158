"""The chat in a real VS Code: questions, the queue, reloads, hostile answers, and whether everybody can use it."""

import asyncio
import base64
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Request, expect

from tests.e2e.steps import play_calls, results, says
from tests.editors.code_server import EXTENSION
from tests.editors.conftest import StartVSCode, lent
from tests.editors.neovim import PATIENCE, until
from tests.editors.processes import servers
from tests.editors.vscode import NEWEST, VSCode
from tests.editors.vscode_chat import PASTE, Chat, begins
from tests.support.pictures import png
from tests.support.wire import Answer, Wire, anthropic_error

pytestmark = [pytest.mark.asyncio(loop_scope="module"), NEWEST]

AXE = EXTENSION / "node_modules" / "axe-core" / "axe.min.js"
THEMES = ("Default Light Modern", "Default Dark Modern", "Default High Contrast")
TODOS = [
    {"id": "1", "content": "Look at it", "status": "completed"},
    {"id": "2", "content": "Change it", "status": "in_progress"},
    {"id": "3", "content": "Test it", "status": "pending"},
]
RICH = """### What I found

See `list.txt:2` and [the rest](list.txt#L3).

| line | says |
| --- | --- |
| 2 | two |

> It is short.

```python
def two() -> int:  # a comment
    return 2
```
"""
HOSTILE = """\
<script>document.title = 'owned'; fetch('http://127.0.0.1:9/script')</script>

<img src="http://127.0.0.1:9/img" onerror="document.title = 'owned'"> <svg onload="document.title = 'owned'"></svg>

<iframe src="http://127.0.0.1:9/frame"></iframe><style>body { display: none }</style>
<a href="command:workbench.action.closeAllEditors">in HTML</a> <b onclick="x()">bold</b>

[command](command:workbench.action.closeAllEditors) [script](javascript:document.title='owned') [data](data:text/html,x)
[scheme](vscode://odin-lsp.odin/run) [file](file:///etc/passwd) [host](//127.0.0.1:9/host)
<command:workbench.action.closeAllEditors> <javascript:alert(1)>

![remote](http://127.0.0.1:9/pixel) ![inline](data:image/svg+xml;base64,PHN2Zy8+)

```html" onmouseover="document.title = 'owned'
<script>code</script>
```

\x1b]8;;command:x\x07osc link\x1b]8;;\x07 \x1b]52;c;b3duZWQ=\x07\x1b[31mred\x1b[0m user\u202etxt.exe

The last words.
"""
MORE_THAN_A_PAGE = 260
"""Each call is two events, of which a page has 500."""
HARMLESS = {"BUTTON", "CODE", "DIV", "EM", "P", "PRE", "SPAN"}
ACTIVE = {"action", "href", "src", "srcdoc", "style"}
LEFT = "it => [...it.querySelectorAll('*')].map((it) => [it.tagName, it.getAttributeNames()])"


@pytest.fixture(scope="module")
def programs(installed: Path) -> Path:
    return installed


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def window(start_vscode: StartVSCode, vsix: Path) -> VSCode:
    vscode = await start_vscode(vsix, ODIN_TITLES="false")
    await Chat(vscode).open()
    return vscode


@pytest_asyncio.fixture(loop_scope="module")
async def vscode(window: VSCode, wire: Wire, tmp_path: Path) -> AsyncIterator[VSCode]:
    """In a session of its own."""
    async with lent(window, wire, tmp_path):
        await window.command("odin.vscode.newSession")
        yield window


@pytest.fixture
def chat(vscode: VSCode) -> Chat:
    return Chat(vscode)


async def test_a_command_is_denied_with_a_reason_edited_and_allowed(
    vscode: VSCode, chat: Chat, wire: Wire, root: Path
) -> None:
    command = "touch ran.txt && rm -rf build"
    play_calls(wire, ("ExecuteCommand", {"command": command}))
    wire.play(says("Then I will not."))
    await chat.say("clean up", "Edit")
    await expect(chat.question.locator(".exact-command")).to_have_text(command)
    await chat.question.get_by_role("button", name="Deny with Reason…").click()
    await chat.question.get_by_role("textbox").fill("use make clean")
    await chat.question.get_by_role("button", name="Send").click()
    await expect(chat.turn.get_by_text("Then I will not.")).to_be_visible()
    await expect(chat.turn.locator(".question")).to_contain_text("Deny: use make clean")
    assert "use make clean" in results(wire)[0]
    assert not (root / "ran.txt").exists()

    play_calls(wire, ("ExecuteCommand", {"command": "touch theirs.txt"}))
    wire.play(says("Made."))
    await chat.say("make a file", "Edit")
    await chat.question.get_by_role("button", name="Edit command").click()
    await chat.question.get_by_role("textbox", name="Command").fill("touch mine.txt")
    await expect(chat.question.get_by_role("button", name="in this session")).to_be_hidden()
    await chat.question.get_by_role("button", name="Allow once").click()
    await expect(chat.turn.get_by_text("Made.")).to_be_visible()
    await expect(chat.turn.locator(".exact-command")).to_have_text(["touch theirs.txt", "touch mine.txt"])
    assert ((root / "mine.txt").exists(), (root / "theirs.txt").exists()) == (True, False)

    play_calls(wire, ("ExecuteCommand", {"command": "touch mine.txt"}))
    wire.play(says("Touched."))
    await chat.say("touch it", "Edit")
    await chat.question.get_by_role("button", name="in this session").click()
    await expect(chat.turn.get_by_text("Touched.")).to_be_visible()
    await vscode.palette("Odin: Manage Approvals")
    await vscode.pick("touch")
    await vscode.press("Enter")
    await expect(vscode.notification("Removed 1 approval")).to_be_visible()
    await vscode.palette("Odin: Manage Approvals")
    await expect(vscode.notification("There are no saved approvals")).to_be_visible()


async def test_a_turn_is_stopped_in_the_middle_of_an_answer(chat: Chat, wire: Wire) -> None:
    wire.hung_up.clear()
    wire.play(begins("It begins"))
    await chat.say("tell me a story")
    await expect(chat.turn.get_by_text("It begins")).to_be_visible()
    await chat.button("Cancel turn").click()
    await expect(chat.turn.locator(".end")).to_contain_text("Canceled")
    await expect(chat.turn.get_by_text("It begins")).to_be_visible()
    await asyncio.wait_for(wire.hung_up.wait(), PATIENCE)
    wire.play(says("Here again."))
    await chat.say("and now?")
    await expect(chat.turn.get_by_text("Here again.")).to_be_visible()


async def test_what_is_said_meanwhile_waits_and_can_be_changed(chat: Chat, wire: Wire, root: Path) -> None:
    (root / "one.txt").unlink(missing_ok=True)
    play_calls(wire, ("ExecuteCommand", {"command": "touch one.txt"}))
    wire.play(says("The first is done."), says("The second is done."))
    await chat.say("first", "Edit")
    await expect(chat.question).to_be_visible()
    await chat.say("second", "Edit")
    await chat.say("third", "Edit")
    await expect(chat.waiting).to_have_text(["second", "third"])
    await expect(chat.question.get_by_role("button", name="Allow once")).to_be_in_viewport()

    await chat.waiting.nth(1).get_by_role("button", name="Remove").click()
    await expect(chat.waiting).to_have_text(["second"])
    await chat.waiting.first.get_by_role("button", name="Edit").click()
    field = chat.page.get_by_role("textbox", name="Queued message")
    await field.fill("second, but shorter")
    await field.press("Enter")
    await expect(chat.waiting).to_have_text(["second, but shorter"])

    await chat.question.get_by_role("button", name="Allow once").click()
    await expect(chat.turn.get_by_text("The second is done.")).to_be_visible()
    await expect(chat.waiting).to_have_count(0)
    await expect(chat.said).to_have_text(["first", "second, but shorter"])
    assert "second, but shorter" in str(wire.request["messages"][-1])
    assert (root / "one.txt").exists()


async def test_what_waits_behind_a_cancelled_turn_is_kept_sent_or_edited(
    vscode: VSCode, chat: Chat, wire: Wire, root: Path
) -> None:
    wire.play(begins("It begins"), says("The second is done."))
    await chat.say("first")
    await expect(chat.turn.get_by_text("It begins")).to_be_visible()
    await chat.say("second")
    await expect(chat.waiting).to_have_text(["second"])
    await chat.button("Cancel turn").click()
    await expect(chat.turn.locator(".end")).to_contain_text("Canceled")
    await expect(chat.page.get_by_text("1 message waiting")).to_be_visible()
    await chat.button("Send the queued messages").click()
    await expect(chat.turn.get_by_text("The second is done.")).to_be_visible()

    wire.play(begins("It begins"), begins("The next begins"))
    for text in ("third", "fourth"):
        await chat.say(text)
    await expect(chat.waiting).to_have_text(["fourth"])
    await chat.button("Cancel the turn and send the next message").click()
    await expect(chat.turn.get_by_text("The next begins")).to_be_visible()
    for text in ("fifth", "sixth"):
        await chat.say(text)
    await expect(chat.waiting).to_have_text(["fifth", "sixth"])
    await chat.box.fill("my draft")
    await vscode.palette("Odin: Cancel Turn and Edit Queued Messages")
    await expect(chat.box).to_have_value("fifth\n\nsixth\n\nmy draft")
    await expect(chat.waiting).to_have_count(0)
    await chat.box.fill("")

    (root / "seen.txt").write_text("seen by me\n")
    await chat.say("!cat seen.txt")
    await expect(chat.turn.get_by_role("region", name="Output")).to_have_text("seen by me\n")
    await expect(chat.turn.locator(".tool summary")).to_contain_text("exit code 0")
    await vscode.palette("Odin: Add Note")
    await vscode.answer("the build is red")
    await expect(chat.log.get_by_text("noted: the build is red")).to_be_visible()

    await vscode.palette("Odin: Clear Session")
    await vscode.choose("Clear")
    await expect(chat.said).to_have_count(0)
    wire.play(says("Nothing was said."))
    await chat.say("what was said?")
    await expect(chat.turn.get_by_text("Nothing was said.")).to_be_visible()
    assert "seen by me" not in str(wire.request["messages"])
    await expect(chat.said).to_have_text(["what was said?"])


async def test_a_hostile_answer_does_nothing(vscode: VSCode, chat: Chat, wire: Wire, root: Path) -> None:
    asked: list[str] = []

    def note(request: Request) -> None:
        asked.append(request.url)

    (root / "open.txt").write_text("open\n")
    await vscode.open_file(root / "open.txt")
    vscode.page.context.on("request", note)
    wire.play(says(HOSTILE))
    await chat.say("what is it?")
    await expect(chat.turn.get_by_text("The last words.")).to_be_visible()

    shown = await chat.turn.locator(".markdown").inner_text()
    for words in ("fetch('http://127.0.0.1:9/script')", "<iframe", "onclick", "[image: remote]", "osc link red"):
        assert words in shown
    assert "user⟨U+202E⟩txt.exe" in shown
    assert "\x1b" not in shown
    left: list[tuple[str, list[str]]] = await chat.turn.locator(".markdown").evaluate(LEFT)
    assert {tag for tag, _ in left} <= HARMLESS
    assert not {name for _, names in left for name in names if name.startswith("on") or name in ACTIVE}

    for word in ("command", "script", "data", "scheme", "file", "host"):
        await chat.turn.get_by_text(word, exact=True).click()
    await chat.turn.locator("pre").last.hover()
    vscode.page.context.remove_listener("request", note)
    assert not [url for url in asked if "127.0.0.1:9/" in url or url.startswith("data:")]
    assert await vscode.tabs() == ["open.txt"]
    assert await chat.page.locator("html").evaluate("() => document.title") == "Odin"
    assert await vscode.notifications() == []


async def test_everybody_can_use_it(vscode: VSCode, chat: Chat, wire: Wire, root: Path) -> None:
    """In a turn with as much as there is, in each kind of theme."""
    path = root / "list.txt"
    path.write_text("one\ntwo\nthree\n")
    await vscode.open_file(path)
    play_calls(wire, ("Read", {"file_path": str(path)}), ("TodoWrite", {"todos": TODOS}))
    play_calls(wire, ("EditTool", {"file_path": str(path), "old_string": "two", "new_string": "2"}))
    play_calls(wire, ("ExecuteCommand", {"command": "make test"}))
    wire.play(says("Done."), says("The todos can wait."), says("And done."))
    wire.answers.appendleft(says(RICH))
    await chat.say("what is in it?")
    await expect(chat.turn.get_by_text("It is short.")).to_be_visible()
    await chat.say("write a number", "Edit")
    await expect(chat.review).to_be_visible()
    await chat.say("thank you")
    await expect(chat.waiting).to_have_count(1)
    for theme in THEMES:
        await vscode.theme(theme)
        assert await findings(chat) == []
    await chat.review.get_by_role("button", name="Accept All").click()
    await expect(chat.question).to_be_visible()
    editor = "vscode.window.activeTextEditor"
    await vscode.until(f"{editor}?.document.fileName === args[0] && {editor}.selection.active.line === 1", str(path))
    await expect(vscode.page.locator(".monaco-editor.focused")).to_have_count(0)
    for theme in reversed(THEMES):
        await vscode.theme(theme)
        assert await findings(chat) == []
    await chat.question.get_by_role("button", name="Deny", exact=True).click()
    await expect(chat.turn.get_by_text("And done.")).to_be_visible()


async def test_a_window_that_is_reloaded_in_a_turn_goes_on(vscode: VSCode, chat: Chat, wire: Wire, root: Path) -> None:
    path = root / "kept.txt"
    path.write_text("one\ntwo\n")
    play_calls(wire, ("Read", {"file_path": str(path)}))
    play_calls(wire, ("EditTool", {"file_path": str(path), "old_string": "two", "new_string": "2\nthree"}))
    wire.play(says("Nice to meet you."), begins("Half of it"))
    await chat.say("hello", "Edit")
    await chat.review.get_by_role("button", name="Accept All").click()
    await expect(chat.turn.get_by_text("Nice to meet you.")).to_be_visible()
    await chat.say("a long story")
    await expect(chat.turn.get_by_text("Half of it")).to_be_visible()
    await chat.box.fill("my draft")
    await vscode.reload()
    await expect(chat.turn.locator(".end")).to_contain_text("Interrupted")
    await expect(chat.said).to_have_text(["hello", "a long story"])
    await expect(chat.log.get_by_text("Nice to meet you.")).to_be_visible()
    await expect(chat.log.locator(".tool .added, .tool .removed")).to_have_text(["+2", "−1"])
    await expect(chat.log.get_by_text("1 accepted in kept.txt")).to_be_visible()
    await expect(chat.box).to_have_value("my draft")
    wire.play(says("All of it."))
    await chat.turn.get_by_role("button", name="Continue").click()
    await expect(chat.turn.get_by_text("All of it.")).to_be_visible()
    await expect(chat.said).to_have_text(["hello", "a long story"])
    assert "Nice to meet you." in str(wire.request["messages"])
    assert str(wire.request["messages"]).count("a long story") == 1


async def test_a_reload_shows_nothing_of_another_session_and_what_came_earlier_if_wanted(
    vscode: VSCode, chat: Chat, wire: Wire, root: Path
) -> None:
    wire.play(begins("Half of it"))
    await chat.say("a story")
    await expect(chat.turn.get_by_text("Half of it")).to_be_visible()
    await vscode.command("odin.vscode.newSession")
    wire.play(says("Nice to meet you."))
    await chat.say("hello")
    await expect(chat.turn.get_by_text("Nice to meet you.")).to_be_visible()
    play_calls(wire, *(("Read", {"file_path": str(root / f"{number}.txt")}) for number in range(MORE_THAN_A_PAGE)))
    wire.play(says("Nothing was found."))
    await chat.say("look for many things")
    await expect(chat.turn.get_by_text("Nothing was found.")).to_be_visible()

    await vscode.reload()
    await expect(chat.said).to_have_text(["look for many things"])
    await chat.button("Show Earlier Messages").click()
    await expect(chat.said).to_have_text(["hello", "look for many things"])
    await expect(chat.log.get_by_text("Nice to meet you.")).to_be_visible()


async def test_a_turn_is_taken_up_after_its_server_was_killed(
    vscode: VSCode, chat: Chat, wire: Wire, root: Path
) -> None:
    path = root / "killed.txt"
    path.write_text("one\n")
    play_calls(wire, ("Read", {"file_path": str(path)}))
    wire.play(begins("Half of it"))
    await chat.say("read it")
    await expect(chat.turn.get_by_text("Half of it")).to_be_visible()
    (server,) = servers(vscode)
    os.kill(server, signal.SIGKILL)
    wire.play(says("All of it."))
    await expect(chat.turn.locator(".end")).to_contain_text("Interrupted")
    await expect(chat.turn.get_by_text("Read killed.txt")).to_be_visible()
    await expect(chat.turn.get_by_text("Half of it")).to_have_count(0)
    await chat.turn.get_by_role("button", name="Continue").click()
    await expect(chat.turn.get_by_text("All of it.")).to_be_visible()
    await expect(chat.said).to_have_text(["read it"])
    await expect(chat.turn.get_by_text("Read killed.txt")).to_have_count(1)
    spent = (await chat.page.locator(".composer .figures").inner_text()).split(" · ")[-1]
    assert spent.startswith("$")
    await expect(vscode.status("claude")).to_contain_text(spent)


async def test_a_conversation_looks_the_same_after_a_reload(vscode: VSCode, chat: Chat, wire: Wire, root: Path) -> None:
    """Window, extension and server are others then."""
    path = root / "same.txt"
    path.write_text("one\ntwo\nthree\n")
    wire.play(says("A gray dot."))
    await chat.box.evaluate(PASTE, base64.b64encode(png(4, 3)).decode())
    await chat.box.fill("what is this beside @same")
    await chat.page.get_by_role("option", name="same.txt").click()
    await expect(chat.button("Do not send same.txt")).to_be_visible()
    await chat.box.press("Enter")
    await expect(chat.turn.get_by_text("A gray dot.")).to_be_visible()
    await chat.say("!cat same.txt")
    await expect(chat.turn.get_by_role("region", name="Output")).to_have_text("one\ntwo\nthree\n")
    edits = [{"old_string": "one", "new_string": "1"}, {"old_string": "three", "new_string": "3\nfour"}]
    play_calls(wire, ("Read", {"file_path": str(path)}), ("TodoWrite", {"todos": TODOS}))
    play_calls(wire, ("MultiEditTool", {"file_path": str(path), "edits": edits}))
    command = "touch made.txt; printf 'first\\nsecond\\n'; ls nowhere"
    play_calls(wire, ("ExecuteCommand", {"command": command, "description": "Try it"}))
    play_calls(wire, ("Read", {"file_path": str(root / "nowhere.txt")}))
    failure = Answer([anthropic_error(400, "no")], status=400, headers={"content-type": "application/json"})
    wire.play(says("Two todos are open."), says(RICH), failure)
    await chat.say("look and change", "Edit")
    await chat.review.get_by_role("button", name="Accept All").click()
    await expect(chat.question).to_be_visible()
    await chat.say("and be brief", "Edit")
    await chat.waiting.first.get_by_role("button", name="Send to the running turn now").click()
    await expect(chat.waiting).to_have_count(0)
    await chat.question.get_by_role("button", name="Allow once").click()
    await expect(chat.turn.get_by_text("It is short.")).to_be_visible()
    await chat.say("and now?")
    await expect(chat.turn.locator(".end")).to_contain_text("Failed")
    before, said = await chat.log.text_content(), await chat.said.all_text_contents()
    assert before
    assert said[-3:] == ["look and change", "and be brief", "and now?"]
    tools = ("Todos (1/3)", "Edited same.txt+3−2", "+four", "2 accepted", "second\n")
    for words in (*tools, "Allow once", "and be brief", "Try Again"):
        assert words in before

    await vscode.reload()
    await expect(chat.said).to_have_text(said)

    async def is_same() -> bool:
        return await chat.log.text_content() == before

    await until(is_same, "the log is as it was")
    await expect(chat.log.get_by_role("img", name="shot.png")).to_have_js_property("naturalWidth", 4)
    await chat.log.locator(".sent summary").first.click()
    await chat.log.locator(".sent").first.get_by_role("button", name="same.txt").click()
    await vscode.until("vscode.window.activeTextEditor?.document.fileName === args[0]", str(path))
    wire.play(says("It works again."))
    await chat.turn.get_by_role("button", name="Try Again").click()
    await expect(chat.turn.get_by_text("It works again.")).to_be_visible()
    await expect(chat.said).to_have_text(said)


async def test_an_image_is_pasted_sent_and_shown(vscode: VSCode, chat: Chat, wire: Wire) -> None:
    data = base64.b64encode(png(4, 3)).decode()
    wire.play(says("A gray dot."))
    await chat.box.evaluate(PASTE, data)
    await expect(chat.page.get_by_role("button", name="Do not send shot.png")).to_be_visible()
    await chat.say("what is this?")
    await expect(chat.turn.get_by_text("A gray dot.")).to_be_visible()
    assert [it["source"]["data"] for it in wire.request["messages"][-1]["content"] if it["type"] == "image"] == [data]
    await expect(chat.turn.get_by_role("img", name="shot.png")).to_have_js_property("naturalWidth", 4)


async def test_what_goes_with_a_message_is_chosen_taken_away_and_named_in_the_chat(
    vscode: VSCode, chat: Chat, wire: Wire, root: Path
) -> None:
    (root / "shop").mkdir()
    (root / "shop" / "cart.py").write_text("total = 1\n")
    for typed, chosen in (("sho", "shop/"), ("", "problems")):
        await chat.button("Add context").click()
        await vscode.quick_input.fill(typed)
        await vscode.pick(chosen)
        await expect(chat.button(f"Do not send {chosen}")).to_be_visible()
    await expect(chat.box).to_be_focused()
    await chat.button("Do not send problems").click()
    await chat.box.fill("compare it with @cart")
    await chat.page.get_by_role("option", name="shop/cart.py").click()
    await expect(chat.button("Do not send shop/cart.py")).to_be_visible()
    wire.play(says("It has a cart."))
    await chat.box.press("Enter")
    await expect(chat.turn.get_by_text("It has a cart.")).to_be_visible()
    told = str(wire.request["messages"][-1])
    assert ('kind="folder"' in told, "total = 1" in told, 'kind="diagnostics"' in told) == (True, True, False)
    await expect(chat.button("Do not send shop/")).to_have_count(0)

    await chat.turn.locator(".sent summary").click()
    await expect(chat.turn.locator(".sent li")).to_have_text(["shop/", "cart.py"])
    await chat.turn.get_by_role("button", name="cart.py").click()
    await vscode.until("vscode.window.activeTextEditor?.document.fileName === args[0]", str(root / "shop" / "cart.py"))


async def test_a_plan_is_named_by_its_title_and_run_from_the_chat(vscode: VSCode, chat: Chat, wire: Wire) -> None:
    wire.play(says("# Fix it\n\n- [ ] Turn the sign\n- [ ] Test it\n"))
    await chat.say("the sign is wrong", "Plan")
    await expect(chat.turn.locator(".plan")).to_have_text("Fix it")
    await vscode.until(
        "vscode.window.tabGroups.all.some((it) => it.tabs.some((tab) => tab.label === args[0]))", "Fix it.plan.md"
    )
    wire.play(says("I could not."), says("I still cannot."))
    await chat.turn.get_by_role("button", name="Run Plan").click()
    await expect(chat.turn.get_by_text("I still cannot.")).to_be_visible()
    await expect(chat.said).to_have_text(["the sign is wrong", "Run steps 1, 2 of the plan “Fix it”."])


async def test_files_are_undone_with_what_is_asked_again(vscode: VSCode, chat: Chat, wire: Wire, root: Path) -> None:
    path = root / "again.txt"
    path.write_text("one\ntwo\n")
    for old, new in (("one", "1"), ("two", "2")):
        play_calls(wire, ("Read", {"file_path": str(path)}))
        play_calls(wire, ("EditTool", {"file_path": str(path), "old_string": old, "new_string": new}))
        wire.play(says(f"That is {new}."))
        await chat.say(f"write {new}", "Edit")
        await chat.review.get_by_role("button", name="Accept All").click()
        await expect(chat.turn.get_by_text(f"That is {new}.")).to_be_visible()
    await vscode.has_text("1\n2\n", path)

    wire.play(says("It has numbers."))
    await chat.say("what is in it?", "Ask")
    await expect(chat.turn.get_by_text("It has numbers.")).to_be_visible()
    mode = chat.page.get_by_role("combobox", name="Mode")
    await mode.select_option("Edit")
    again = chat.log.get_by_role("button", name="Edit and ask again from here")
    await again.last.focus()
    await again.last.press("Enter")
    await expect(chat.box).to_have_value("what is in it?")
    await expect(mode.locator("option:checked")).to_have_text("Ask")

    await again.first.focus()
    await again.first.press("Enter")
    await expect(vscode.dialog).to_contain_text("again.txt")
    await vscode.choose("Undo the Changes of 2 Turns")
    await vscode.has_text("one\ntwo\n", path)
    await expect(chat.box).to_have_value("write 1")
    await expect(chat.said).to_have_count(0)
    await vscode.command("odin.vscode.newSession")


async def findings(chat: Chat) -> list[str]:
    """What axe finds that keeps people from using the chat."""
    page = chat.page.locator("html")
    if not await page.evaluate("() => 'axe' in window"):
        await page.evaluate(AXE.read_text())
    found: Any = await page.evaluate("() => axe.run({ resultTypes: ['violations'] })")
    return [
        f"{it['id']} ({it['impact']}): {node['html']}: {node['failureSummary']}"
        for it in found["violations"]
        if it["impact"] in ("serious", "critical")
        for node in it["nodes"]
    ]
