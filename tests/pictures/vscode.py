"""A window of a real VS Code for pictures: wide enough to read, and the same each time."""

import os
import shutil
import sys
import tempfile
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Protocol

from playwright.async_api import async_playwright

from tests.editors import code_server
from tests.editors.conftest import CHROMIUM_FLAGS, FOLDERS
from tests.editors.debian import CHROMIUM, fetched
from tests.editors.vscode import VSCode, start
from tests.support.wire import KEY

PICTURES = Path(__file__).parents[2] / "docs" / "images"
THEMES = {
    "light": "Default Light Modern",
    "dark": "Default Dark Modern",
    "contrast": "Default High Contrast",
}
SIZE = (1180, 720)
SIDEBAR = 430
"""Where it ends."""
NARROW = 225
"""Where it ends if it is as narrow as VS Code lets it be."""
ASIDE = (900, 500)
"""Where the mouse points at nothing."""
SETTINGS = {
    "breadcrumbs.enabled": False,
    "diffEditor.renderSideBySide": True,
    "editor.minimap.enabled": False,
    "window.commandCenter": False,
    "workbench.layoutControl.enabled": False,
}


class Listening(Protocol):
    """A model on loopback."""

    @property
    def url(self) -> str: ...


@asynccontextmanager
async def window(
    wire: Listening, name: str, files: Mapping[str, str], **environment: str
) -> AsyncGenerator[tuple[VSCode, Path]]:
    """With a project of that name, which is in the pictures."""
    with tempfile.TemporaryDirectory(prefix="odin-") as temporary:
        place = Path(temporary)
        for folder in (*FOLDERS.values(), "code"):
            (place / folder).mkdir(parents=True, exist_ok=True, mode=0o700)
        project = place / name
        (project / ".git").mkdir(parents=True)
        for file, text in files.items():
            (project / file).parent.mkdir(parents=True, exist_ok=True)
            (project / file).write_text(text)
        chromium = shutil.which("chromium") or fetched(CHROMIUM)
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_FLAGS)
            vscode = await start(
                *(code_server.installed(code_server.BUILDS["newest"]), browser, place / "code", project),
                env={**_environment(place, wire), **environment},
                extensions=[code_server.packaged()],
                settings=SETTINGS,
                trust=True,
            )
            try:
                width, height = SIZE
                await vscode.page.set_viewport_size({"width": width, "height": height})
                yield vscode, project
            finally:
                await vscode.close()
                await browser.close()


async def widen(vscode: VSCode, to: int = SIDEBAR) -> None:
    """The sidebar, as people do who read in it."""
    await vscode.widen(to)


async def picture(vscode: VSCode, name: str, themes: Iterable[str] = THEMES) -> None:
    """In several themes, the last of which stays."""
    await vscode.page.mouse.move(*ASIDE)
    for kind in themes:
        await vscode.theme(THEMES[kind])
        await vscode.command("notifications.clearAll")
        await vscode.screenshot(PICTURES / f"vscode-{name}-{kind}.png")


def _environment(place: Path, wire: Listening) -> dict[str, str]:
    return {
        **os.environ,
        **{name: str(place / folder) for name, folder in FOLDERS.items()},
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "ANTHROPIC_API_KEY": KEY,
        "ANTHROPIC_BASE_URL": wire.url,
        "ODIN_TITLES": "false",
        "LC_ALL": "C.UTF-8",
    }
