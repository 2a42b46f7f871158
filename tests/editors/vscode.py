"""A real VS Code in a real browser: what a person does with it, and what they see.

A companion (an extension that only tests have) answers what the screen does not say for certain.
"""

import asyncio
import itertools
import json
import os
import re
import shutil
import signal
import zipfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Dialog, FrameLocator, Locator, Page, expect
from playwright.async_api import TimeoutError as PlaywrightTimeout

from tests.editors.neovim import PATIENCE, until

NEWEST = pytest.mark.parametrize("code", ["newest"], indirect=True)
"""For what does not depend on VS Code's version; its types hold the extension to what the oldest one has."""
COMPANION = Path(__file__).parent / "companion"
SETTINGS: Mapping[str, Any] = {
    "chat.disableAIFeatures": True,
    "editor.wordBasedSuggestions": "off",  # one that comes late would take the next Enter for its own
    "extensions.ignoreRecommendations": True,
    "git.openRepositoryInParentFolders": "never",
    "remote.autoForwardPorts": False,
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    "workbench.startupEditor": "none",
    "workbench.welcomePage.walkthroughs.openOnInstall": False,
}
"""It is to show what a test does, not to greet people."""
FLAGS = (
    "--auth=none",
    "--bind-addr=127.0.0.1:0",
    "--disable-getting-started-override",
    "--disable-proxy",
    "--disable-telemetry",
    "--disable-update-check",
)
VARIABLES = {
    "EXTENSIONS_GALLERY": json.dumps({"serviceUrl": ""}),
    "VSCODE_CLI": "1",  # otherwise it takes the variables of a login shell, which has another PATH
}
STILL = """
const still = new CSSStyleSheet();
still.replaceSync("*, *::before, *::after { animation-iteration-count: 1 !important }");
document.adoptedStyleSheets.push(still);
"""
"""What turns as long as something runs would be drawn again and again, without a graphics card."""
MACHINE = "odin.server."
"""Of a machine: VS Code keeps them with its server. Among a user's they count only until it knows what they are."""
STRANGE = ("PORT", "PASSWORD", "HASHED_PASSWORD", "ELECTRON_", "VSCODE_", "CODE_SERVER_")
"""Variables by which code-server could be told something else."""

expect.set_options(timeout=PATIENCE * 1000)


class VSCodeError(Exception):
    """What VS Code says went wrong."""


class VSCode:
    """Started by `start`; lines are counted from 1, as VS Code shows them."""

    def __init__(self, process: asyncio.subprocess.Process, companion: "Companion", page: Page, url: str) -> None:
        self.process = process
        self.page = page
        self._companion = companion
        self._url = url

    # What the companion does and knows

    async def eval(self, code: str, *arguments: Any) -> Any:
        """Run JavaScript with `vscode` and `args`; what it returns: `eval("return vscode.window.state.focused")`."""
        return await self._companion.ask(code, *arguments)

    async def until(self, condition: str, *arguments: Any) -> Any:
        """Wait until the JavaScript expression is true; its value."""
        try:
            return await until(lambda: self.eval(f"return {condition}", *arguments), condition)
        except AssertionError as error:
            raise AssertionError(f"{error}\nVS Code shows:\n{await self.notifications()}") from None

    async def command(self, name: str, *arguments: Any) -> Any:
        """Run a command by its id; what it returns."""
        return await self.eval("return await vscode.commands.executeCommand(...args)", name, *arguments)

    async def open_file(self, path: Path) -> None:
        """Open it, and have the cursor in it."""
        code = "await vscode.window.showTextDocument(vscode.Uri.file(args[0]), { preview: false })"
        await self.eval(code, str(path))
        await self.command("workbench.action.focusActiveEditorGroup")
        await expect(self.page.locator(".editor-group-container.active .monaco-editor.focused")).to_be_visible()

    async def text(self, path: Path | None = None) -> str:
        """Of the active editor, or of a document that is open; unsaved changes count."""
        if path is None:
            return await self.eval("return vscode.window.activeTextEditor.document.getText()")
        code = "return (await vscode.workspace.openTextDocument(vscode.Uri.file(args[0]))).getText()"
        return await self.eval(code, str(path))

    async def has_text(self, text: str, path: Path | None = None) -> None:
        """Wait until that is all of the text."""

        async def same() -> bool:
            return await self.text(path) == text

        try:
            await until(same, f"the text is {text!r}")
        except AssertionError as error:
            raise AssertionError(f"{error}; it is {await self.text(path)!r}") from None

    async def dirty(self) -> list[str]:
        """Names of the files with unsaved changes."""
        code = "vscode.workspace.textDocuments.filter((it) => it.isDirty).map((it) => it.fileName)"
        return sorted(Path(name).name for name in await self.eval(f"return {code}"))

    async def tabs(self) -> list[str]:
        """Their labels, over all groups."""
        return await self.eval("return vscode.window.tabGroups.all.flatMap((it) => it.tabs).map((it) => it.label)")

    async def diagnostics(self, path: Path) -> list[str]:
        code = "return vscode.languages.getDiagnostics(vscode.Uri.file(args[0])).map((it) => it.message)"
        return await self.eval(code, str(path))

    async def select(self, first: int, last: int) -> None:
        """Whole lines of the active editor. Keys count on it when the status bar shows it."""
        code = """
            const editor = vscode.window.activeTextEditor;
            const end = editor.document.lineAt(args[1] - 1).range.end;
            editor.selection = new vscode.Selection(new vscode.Position(args[0] - 1, 0), end);
            editor.revealRange(editor.selection);
            await vscode.commands.executeCommand("workbench.action.focusActiveEditorGroup");
        """
        await self.eval(code, first, last)
        await expect(self.status("selected)")).to_contain_text(f"Ln {last}, ")

    async def configure(self, name: str, value: Any, *, user: bool = True) -> None:
        """A setting, of the user or of the workspace."""
        code = "await vscode.workspace.getConfiguration().update(...args)"
        await self.eval(code, name, value, user)

    async def theme(self, name: str) -> None:
        """By its full name: `Default Dark Modern`, `Default Light Modern`, `Default High Contrast`."""
        await self.configure("workbench.colorTheme", name)
        kind = {"Light": "vs", "Dark": "vs-dark", "High": "hc-black"}[name.split()[1]]
        await expect(self.page.locator(f".monaco-workbench.{kind}")).to_be_visible()

    # The keyboard

    async def widen(self, to: int) -> None:
        """The sidebar: it ends there, or as near to it as VS Code lets it."""
        box = await self.page.locator(".part.sidebar").bounding_box()
        assert box
        edge, middle = box["x"] + box["width"], box["y"] + box["height"] / 2
        await self.page.mouse.move(edge, middle)
        await self.page.mouse.down()
        await self.page.mouse.move(to, middle, steps=5)
        await self.page.mouse.up()

    async def press(self, *keys: str) -> None:
        """Keys by their names in the browser: `Enter`, `Control+Z`, `F1`."""
        for key in keys:
            await self.page.keyboard.press(key)

    async def type(self, text: str) -> None:
        """Into whatever has the focus. In an editor VS Code closes brackets and indents, as for a person."""
        await self.page.keyboard.type(text)

    # What lies above the editor

    async def palette(self, title: str) -> None:
        """Run a command by the title that it has in the palette."""
        await self.open_palette(title)
        await self._row(title).click()

    async def open_palette(self, title: str) -> None:
        """With this command in it. It lists what there was when it opened; keys and the palette learn that a folder is
        trusted when VS Code has nothing else to do."""
        await until(lambda: self._palette_opened(title), f"{title} in the palette")

    @property
    def quick_input(self) -> Locator:
        """The field of a quick pick, an input box or the palette."""
        return self.page.locator(".quick-input-widget:visible input.input")

    async def picks(self) -> list[str]:
        """What there is to choose from, as a screen reader says it."""
        rows = self.page.locator(".quick-input-widget:visible .quick-input-list .monaco-list-row")
        await expect(rows.first).to_be_visible()
        return [await row.get_attribute("aria-label") or "" for row in await rows.all()]

    async def pick(self, label: str) -> None:
        """Choose what begins so."""
        await self._row(label).click()

    async def answer(self, text: str) -> None:
        """Write into the input box, and confirm."""
        await self.quick_input.fill(text)
        await self.quick_input.press("Enter")

    def notification(self, text: str) -> Locator:
        """One that is shown: `await expect(vscode.notification("Saved")).to_be_visible()`."""
        return self.page.locator(".notification-toast .notification-list-item", has_text=text)

    async def notifications(self) -> list[str]:
        """The texts of those that are shown now."""
        return await self.page.locator(".notification-toast .notification-list-item-message").all_inner_texts()

    async def respond(self, text: str, button: str) -> None:
        """Press the button of a notification, which goes away."""
        shown = self.notification(text)
        await shown.get_by_role("button", name=button, exact=True).click()
        await expect(shown).to_have_count(0)

    async def menu(self, on: Locator, *labels: str) -> None:
        """Choose in the context menu of something, submenu by submenu. A menu that has just come up hears no clicks."""
        menus = self.page.locator(".monaco-menu")
        await on.click(button="right")
        for label in labels:
            await menus.get_by_role("menuitem", name=label, exact=True).last.click()

        async def is_chosen() -> bool:
            if await menus.count():
                with suppress(PlaywrightTimeout):
                    await menus.get_by_role("menuitem", name=labels[-1], exact=True).last.click(timeout=500)
            return not await menus.count()

        await until(is_chosen, f"{labels[-1]} is chosen")

    @property
    def dialog(self) -> Locator:
        """The modal one: `await expect(vscode.dialog).to_contain_text("Sure?")`."""
        return self.page.locator(".monaco-dialog-box")

    async def choose(self, button: str) -> None:
        """Press a button of the modal dialog."""
        await self.dialog.get_by_role("button", name=button, exact=True).click()
        await expect(self.dialog).to_have_count(0)

    # Around the code

    async def code_actions(self) -> list[str]:
        """Open the menu at the cursor; the titles in it. It stays open: `take_action`, or `press("Escape")`."""
        await until(self._menu_opened, "a menu of code actions")
        return [text.strip() for text in await self._actions.all_inner_texts()]

    async def take_action(self, title: str) -> None:
        """Choose from the menu that `code_actions` has opened, by the keyboard."""
        focused = self.page.locator(".action-widget .monaco-list-row.action.focused")
        passed: list[str] = []
        while title not in (before := await focused.inner_text()):
            assert before not in passed, f"{title} is not among {passed}"
            passed.append(before)
            await self.press("ArrowDown")
            await expect(focused).not_to_have_text(before, use_inner_text=True)
        await self.press("Enter")
        await expect(focused).to_be_hidden()

    def lens(self, title: str = "") -> Locator:
        """Code lenses that can be clicked: `await vscode.lens("Accept").first.click()`."""
        return self.page.locator(".editor-group-container.active .codelens-decoration a", has_text=title)

    async def lenses(self) -> list[str]:
        """Their titles, once there are some."""
        await expect(self.lens().first).to_be_visible()
        return await self.lens().all_inner_texts()

    def status(self, text: str = "") -> Locator:
        """Items of the status bar: `await expect(vscode.status("Odin")).to_be_visible()`."""
        return self.page.locator(".statusbar-item:visible", has_text=text)

    def webview(self, extension: str = "odin", *, view: bool = True) -> FrameLocator:
        """The page of a webview: of a view in the sidebar, or else of an editor."""
        kind = "[src*='purpose=webviewView']" if view else ":not([src*='purpose=webviewView'])"
        outer = self.page.frame_locator(f"iframe.webview.ready[src*='{extension}']{kind}")
        return outer.frame_locator("iframe#active-frame")

    # The window

    async def screenshot(self, path: Path) -> None:
        await self.page.screenshot(path=path, animations="disabled")

    async def reload(self) -> None:
        """Extensions start anew."""
        self._companion.connected.clear()
        await self.palette("Developer: Reload Window")
        await self._ready()

    async def tidy(self) -> None:
        """Close all that lies above the editors, and the editors; what is not saved is lost."""
        await self.press("Escape", "Escape")
        await self.command("notifications.clearAll")
        await self.eval("""
            for (const document of vscode.workspace.textDocuments.filter((it) => it.isDirty)) {
                await vscode.window.showTextDocument(document);
                await vscode.commands.executeCommand("workbench.action.revertAndCloseActiveEditor");
            }
            await vscode.commands.executeCommand("workbench.action.closeAllEditors");
        """)
        await expect(self.page.locator(".notification-toast .notification-list-item")).to_have_count(0)

    async def open(self, folder: Path) -> None:
        """Show a folder, or a `.code-workspace` file, in the same window."""
        kind = "workspace" if folder.suffix == ".code-workspace" else "folder"
        await self._go_to(f"{self._url}?{kind}={folder}")
        if not await self.eval("return vscode.workspace.workspaceFolders?.length"):
            # In a browser, VS Code at times shows a file that it has not seen before as a workspace without folders,
            # and leaves it so: about every fourth time, without any extension of ours.
            await self._go_to(self.page.url)

    async def _go_to(self, url: str) -> None:
        self._companion.connected.clear()
        await self.page.goto(url)
        await self._ready()

    async def close(self) -> None:
        await self.page.context.close()
        os.killpg(self.process.pid, signal.SIGKILL)
        await self.process.wait()
        await self._companion.close()

    async def _ready(self) -> None:
        async with asyncio.timeout(PATIENCE):
            await self._companion.connected.wait()
        await expect(self.page.locator(".monaco-workbench")).to_be_visible()

    @property
    def _actions(self) -> Locator:
        return self.page.locator(".action-widget .monaco-list-row.action")

    async def _palette_opened(self, title: str) -> bool:
        await self.press("F1")
        await self.quick_input.fill(f">{title}")
        if await _comes(self._row(title)):
            return True
        await self.press("Escape")
        return False

    async def _menu_opened(self) -> bool:
        """VS Code forgets that it was asked if it looks for actions by itself, as it does soon after each change. The
        key would take an action if the menu has come late."""
        await self.command("editor.action.quickFix")
        return await _comes(self._actions.first)

    def _row(self, label: str) -> Locator:
        quoted = json.dumps(label, ensure_ascii=False)
        return self.page.locator(
            f".quick-input-widget:visible .quick-input-list .monaco-list-row[aria-label^={quoted}]"
        ).first


async def _comes(locator: Locator) -> bool:
    """Whether it is soon to be seen."""
    try:
        await expect(locator).to_be_visible(timeout=3000)
    except AssertionError:
        return False
    return True


class Companion:
    """Listens for the extension of the same name, which connects each time that extensions start."""

    def __init__(self) -> None:
        self.connected = asyncio.Event()
        self._ids = itertools.count(1)
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._server: asyncio.Server | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def listen(self) -> int:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=2**24)
        return self._server.sockets[0].getsockname()[1]

    async def ask(self, code: str, *arguments: Any) -> Any:
        async with asyncio.timeout(PATIENCE):
            await self.connected.wait()
            assert self._writer
            number = next(self._ids)
            answer = self._answers[number] = asyncio.get_running_loop().create_future()
            self._writer.write(json.dumps({"id": number, "code": code, "args": arguments}).encode() + b"\n")
            return await answer

    async def close(self) -> None:
        if self._server:
            self._server.close()
            await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self.connected.set()
        try:
            while line := await reader.readline():
                self._take(json.loads(line))
        except ConnectionError:
            pass
        finally:
            writer.close()
            if self._writer is writer:
                self._end()

    def _take(self, message: Mapping[str, Any]) -> None:
        answer = self._answers.pop(message["id"])
        if answer.done():
            return
        if "error" in message:
            answer.set_exception(VSCodeError(message["error"]))
        else:
            answer.set_result(message.get("value"))

    def _end(self) -> None:
        self.connected.clear()
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(VSCodeError("extensions have ended"))
        self._answers.clear()


async def start(
    code_server: Path,
    browser: Browser,
    place: Path,
    folder: Path,
    *,
    env: Mapping[str, str],
    extensions: Iterable[Path] = (),
    settings: Mapping[str, Any],
    trust: bool,
    script: str = "",
) -> VSCode:
    """Start VS Code with all that it keeps in the place, which is empty, and show the folder.

    Without trust it asks whether the folder is to be trusted. The script runs before its own.
    """
    _prepare(place, extensions, {**SETTINGS, **settings})
    companion = Companion()
    port = await companion.listen()
    plain = {name: value for name, value in env.items() if not name.startswith(STRANGE)}
    with (place / "log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            *(code_server, *FLAGS, *(["--disable-workspace-trust"] if trust else [])),
            *(f"--config={place / 'config.yaml'}", f"--user-data-dir={place / 'data'}"),
            f"--extensions-dir={place / 'extensions'}",
            cwd=place,
            env={**plain, **VARIABLES, "COMPANION_PORT": str(port)},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    url = await until(lambda: _address(place / "log"), "code-server listens")
    page = await browser.new_page(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    await page.add_init_script(STILL + script)
    page.set_default_timeout(PATIENCE * 1000)
    page.on("dialog", _accept)
    vscode = VSCode(process, companion, page, url)
    try:
        await vscode.open(folder)
    except BaseException:
        await vscode.close()
        raise
    return vscode


def _prepare(place: Path, extensions: Iterable[Path], settings: Mapping[str, Any]) -> None:
    machine = {name: value for name, value in settings.items() if name.startswith(MACHINE)}
    user = {name: value for name, value in settings.items() if name not in machine}
    for owner, chosen in (("User", user), ("Machine", machine)):
        (place / "data" / owner).mkdir(parents=True)
        (place / "data" / owner / "settings.json").write_text(json.dumps(chosen))
    shutil.copytree(COMPANION, place / "extensions" / "companion")
    for number, extension in enumerate(extensions):
        installed = place / "extensions" / f"extension-{number}"
        if extension.is_dir():
            shutil.copytree(extension, installed)
            continue
        with zipfile.ZipFile(extension) as archive:
            archive.extractall(place, [it for it in archive.namelist() if it.startswith("extension/")])
        (place / "extension").rename(installed)


async def _address(log: Path) -> str:
    found = re.search(r"HTTP server listening on (\S+)", log.read_text())
    return found[1] if found else ""


async def _accept(dialog: Dialog) -> None:
    """The browser asks whether to leave a page with unsaved changes."""
    await dialog.accept()
