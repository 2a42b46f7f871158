"""What people meet who use the chat of a real VS Code all day: where they scroll, type and are asked."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import expect

from tests.e2e.steps import play_calls, says
from tests.editors.conftest import StartVSCode, at_home, lent
from tests.editors.neovim import until
from tests.editors.vscode import NEWEST, VSCode
from tests.editors.vscode_chat import Chat
from tests.support.ide import claude
from tests.support.trusting import trust_folder
from tests.support.wire import Wire

pytestmark = [pytest.mark.asyncio(loop_scope="module"), NEWEST]

FOCUS = """(isInFront) => {
  document.hasFocus = () => isInFront;
  document.dispatchEvent(new Event("visibilitychange"));
}"""
"""A browser that is driven always has the focus."""
NARROW = 225
"""Where the sidebar ends if it is as narrow as VS Code lets it be."""
HIDDEN = """(it, isHidden) => new Promise((done) => {
  const look = () =>
    it.checkVisibility({ contentVisibilityAuto: true }) === isHidden ? requestAnimationFrame(look) : done();
  look();
})"""
HEIGHT = "(it) => it.closest('.turn').offsetHeight"
ROOM = "() => [document.documentElement.scrollHeight - window.innerHeight, window.scrollY]"


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def window(start_vscode: StartVSCode, vsix: Path, place: Path, root: Path) -> VSCode:
    """It is the IDE of an agent in a terminal, if there is one."""
    settings = Path(at_home(place)["XDG_CONFIG_HOME"]) / "odin" / "odinconfig.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps({"ide": ["claude"]}))
    trust_folder(root, Path(at_home(place)["XDG_STATE_HOME"]))
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


async def test_scrolling_past_the_end_moves_nothing_but_the_conversation(
    vscode: VSCode, chat: Chat, wire: Wire, root: Path
) -> None:
    """Of tools that failed, a screen reader is told so."""
    play_calls(wire, *(("Read", {"file_path": str(root / f"{number}.txt")}) for number in range(40)))
    wire.play(says("Nothing was found."))
    await chat.say("look for many things")
    await expect(chat.turn.get_by_text("Nothing was found.")).to_be_visible()
    await expect(chat.turn.locator(".tool")).to_have_count(40)
    await chat.log.hover()
    await vscode.page.mouse.wheel(0, 100_000)
    await chat.box.evaluate("() => window.scrollTo(0, 100_000)")

    assert await chat.box.evaluate(ROOM) == [0, 0]
    await expect(chat.box).to_be_in_viewport()


async def test_a_turn_that_is_out_of_sight_is_not_drawn_and_keeps_its_place(chat: Chat, wire: Wire, root: Path) -> None:
    """Or else each word of an answer would take longer in a longer chat. Chromium draws what is near, too."""
    wire.play(says("Nice to meet you."))
    await chat.say("hello")
    first = chat.log.get_by_text("Nice to meet you.").last
    await expect(first).to_be_in_viewport()
    play_calls(wire, *(("Read", {"file_path": str(root / f"{number}.txt")}) for number in range(100)))
    wire.play(says("Nothing was found."))
    await chat.say("look for many things")
    await expect(chat.turn.filter(has_text="Nothing was found.").locator(".figures")).to_be_visible()
    await first.evaluate(HIDDEN, True)
    height = await first.evaluate(HEIGHT)

    await chat.box.evaluate("() => document.querySelector('main').scrollTo(0, 0)")
    await first.evaluate(HIDDEN, False)
    assert await first.evaluate(HEIGHT) == height


async def test_who_focuses_the_chat_can_type_at_once(vscode: VSCode, chat: Chat, root: Path) -> None:
    path = root / "open.txt"
    path.write_text("text\n")
    await vscode.open_file(path)
    await vscode.palette("Odin: Focus on Chat View")
    await expect(chat.box).to_be_focused()
    await vscode.type("hello")
    await expect(chat.box).to_have_value("hello")
    assert await vscode.text(path) == "text\n"
    await chat.box.fill("")


async def test_what_is_chosen_in_menus_goes_with_the_next_message(vscode: VSCode, chat: Chat, root: Path) -> None:
    (root / "parts").mkdir()
    path = root / "parts" / "added.py"
    path.write_text("one\ntwo\n")
    add = "await vscode.commands.executeCommand('odin.vscode.addToChat', uri, [uri])"
    await vscode.eval(f"const uri = vscode.Uri.file(args[0]); {add}", str(root / "parts"))
    await expect(chat.button("Do not send parts/")).to_be_visible()

    await vscode.open_file(path)
    await vscode.select(2, 2)
    await vscode.menu(vscode.page.locator(".view-line", has_text="two"), "Odin", "Add to Chat")
    await expect(chat.box).to_be_focused()
    await expect(chat.button("Do not send line 2 of added.py")).to_be_visible()
    await vscode.select(1, 1)
    await expect(chat.button("Do not send line 1 of added.py")).to_be_visible()
    for label in ("parts/", "line 1 of added.py", "line 2 of added.py"):
        await chat.button(f"Do not send {label}").click()
    await expect(chat.page.locator(".chip")).to_have_count(0)


async def test_in_a_narrow_sidebar_the_name_of_the_file_is_cut_last(vscode: VSCode, chat: Chat, root: Path) -> None:
    path = root / "quarterly.py"
    path.write_text("total = 0\n" * 200)
    await vscode.open_file(path)
    await vscode.select(112, 117)
    await vscode.widen(NARROW)
    chip = chat.page.locator(".chip")
    await expect(chip).to_have_text("quarterly.py lines 112–117")
    for part, is_cut in ((chip.locator(".chip-name"), False), (chip.locator(".chip-label span").last, True)):
        assert await part.evaluate("(it) => it.scrollWidth > it.clientWidth") is is_cut
    await vscode.widen(500)


async def test_an_agent_in_a_terminal_knows_what_is_selected(vscode: VSCode, place: Path, root: Path) -> None:
    path = root / "watched.txt"
    path.write_text("one\ntwo\nthree\n")
    await vscode.open_file(path)
    async with claude(Path(at_home(place)["HOME"]) / ".claude" / "ide") as code:
        await vscode.press("Control+Home", "Shift+ArrowDown", "Shift+ArrowRight")

        async def selected() -> bool:
            told = [it["params"] for it in code.told if it["method"] == "selection_changed"]
            return bool(told) and told[-1]["text"] == "one\nt"

        await until(selected, "a selection")


async def test_sessions_are_listed_beside_the_chat_and_opened_renamed_and_deleted_there(
    vscode: VSCode, chat: Chat, wire: Wire
) -> None:
    for word in ("first", "second"):
        await vscode.command("odin.vscode.newSession")
        wire.play(says(f"The {word} answer."))
        await chat.say(f"the {word} question")
        await expect(chat.turn.get_by_text(f"The {word} answer.")).to_be_visible()
    await vscode.command("odin.sessions.focus")
    rows = vscode.page.get_by_role("treeitem")
    current = rows.filter(has=vscode.page.locator(".codicon-circle-filled"))
    await expect(current).to_contain_text("the second question")

    await rows.filter(has_text="the first question").click()
    await expect(chat.turn.get_by_text("The first answer.")).to_be_visible()
    await expect(current).to_contain_text("the first question")
    await current.hover()
    await current.get_by_role("button", name="Rename Session…").click()
    await vscode.answer("another name")
    await expect(current).to_contain_text("another name")
    await current.hover()
    await current.get_by_role("button", name="Delete Session…").click()
    await vscode.choose("Delete")
    await expect(rows.filter(has_text="another name")).to_have_count(0)
    await expect(rows.filter(has_text="the second question")).to_have_count(1)


async def test_a_whole_edit_is_asked_for_and_reviewed_by_keys_alone(
    vscode: VSCode, chat: Chat, wire: Wire, root: Path
) -> None:
    path = root / "keys.txt"
    path.write_text("one\ntwo\n")
    play_calls(wire, ("Read", {"file_path": str(path)}))
    play_calls(wire, ("EditTool", {"file_path": str(path), "old_string": "two", "new_string": "2"}))
    wire.play(says("It is a number now."))
    await run_by_keys(vscode, "Odin: Focus on Chat View")
    await expect(chat.box).to_be_focused()
    await vscode.press("Tab")
    await expect(chat.page.get_by_role("combobox", name="Mode")).to_be_focused()
    await vscode.press("e", "Shift+Tab")
    await vscode.type("write a number")
    await vscode.press("Enter")
    await expect(vscode.page.get_by_role("tab", name="keys.txt (Odin)")).to_be_visible()
    await run_by_keys(vscode, "Odin: Review Proposed Changes")
    await expect(vscode.page.locator(".editor-group-container.active .monaco-editor.focused")).to_be_visible()
    await vscode.press("Alt+Enter")
    await expect(chat.turn.get_by_text("It is a number now.")).to_be_visible()
    await vscode.has_text("one\n2\n", path)


async def run_by_keys(vscode: VSCode, title: str) -> None:
    await vscode.press("F1")
    await expect(vscode.quick_input).to_be_focused()
    await vscode.type(title)
    focused = vscode.page.locator(".quick-input-list .monaco-list-row.focused")
    await expect(focused).to_contain_text(title)
    await vscode.press("Enter")


async def test_a_question_is_told_of_while_the_window_is_not_in_front(
    vscode: VSCode, chat: Chat, wire: Wire, root: Path
) -> None:
    await vscode.page.evaluate(FOCUS, False)
    await vscode.until("!vscode.window.state.focused")
    play_calls(wire, ("ExecuteCommand", {"command": "touch unseen.txt"}))
    await chat.say("touch it", "Edit")
    await expect(chat.question).to_be_visible()
    await expect(vscode.notification("touch unseen.txt")).to_be_visible()

    await vscode.page.evaluate(FOCUS, True)
    await expect(vscode.notification("touch unseen.txt")).to_have_count(0)
    wire.play(says("Then I will not."))
    await chat.question.get_by_role("button", name="Deny", exact=True).click()
    await expect(chat.turn.get_by_text("Then I will not.")).to_be_visible()
    assert not (root / "unseen.txt").exists()


async def test_a_question_stays_on_the_screen_until_it_is_answered_or_seen(
    vscode: VSCode, wire: Wire, root: Path
) -> None:
    """The last: it hides the chat, and the page that comes back is another one. A notification that was withdrawn when
    the chat came up may still be on its way out: of two the first is the newest."""
    told = vscode.notification("touch asked.txt")

    async def ask() -> None:
        play_calls(wire, ("ExecuteCommand", {"command": "touch asked.txt"}))
        await vscode.palette("Odin: Edit…")
        await vscode.answer("touch it")
        await expect(vscode.status("1 question")).to_be_visible()
        await vscode.command("workbench.view.explorer")
        await expect(told.first).to_be_visible()

    await ask()
    wire.play(says("Then I will not."))
    await told.get_by_text("Deny").first.click()
    await expect(told).to_have_count(0)
    await until(lambda: no_more(wire), "the turn goes on")

    await ask()
    await told.get_by_text("Show in Chat").first.click()
    await expect(told).to_have_count(0)
    await expect(vscode.status("1 question")).to_be_visible()
    await vscode.command("odin.vscode.cancel")
    await expect(vscode.status("1 question")).to_have_count(0)
    assert not (root / "asked.txt").exists()


async def no_more(wire: Wire) -> bool:
    return not wire.answers
