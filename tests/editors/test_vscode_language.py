"""A real VS Code in another language, in which every text of the extension stands in brackets."""

import json
import re
import zipfile
from pathlib import Path

import pytest
from playwright.async_api import expect

from tests.e2e.steps import says
from tests.editors.conftest import StartVSCode
from tests.editors.vscode import NEWEST
from tests.editors.vscode_chat import Chat
from tests.support.wire import Wire

pytestmark = [pytest.mark.asyncio(loop_scope="module"), NEWEST]

ESPERANTO = "globalThis._VSCODE_NLS_LANGUAGE = 'eo';"
NAMES = """() => {
  const read = ["alt", "aria-label", "placeholder", "title"];
  const names = [...document.querySelectorAll("*")].flatMap((it) => read.map((name) => it.getAttribute(name)));
  return names.filter((it) => it && !it.includes("⟦"));
}"""


@pytest.fixture(scope="module")
def translated(vsix: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("translated")
    with zipfile.ZipFile(vsix) as archive:
        archive.extractall(folder)
    for name in ("l10n/bundle.l10n", "package.nls"):
        texts: dict[str, str] = json.loads((folder / "extension" / f"{name}.json").read_text())
        bracketed = {key: f"⟦{text}⟧" for key, text in texts.items()}
        (folder / "extension" / f"{name}.eo.json").write_text(json.dumps(bracketed))
    return folder / "extension"


async def test_the_palette_the_chat_and_the_server_speak_the_language_of_vs_code(
    start_vscode: StartVSCode, translated: Path, wire: Wire, root: Path
) -> None:
    vscode = await start_vscode(translated, script=ESPERANTO, ODIN_TITLES="false")
    file = root / "αρχή.txt"
    file.write_text("ένα\n")
    await vscode.open_file(file)
    await expect(vscode.status("claude")).to_have_attribute("aria-label", re.compile("^⟦Odin is ready.⟧ ⟦Model: "))

    chat = Chat(vscode)
    wire.play(says("σοφία"))
    await vscode.palette("Odin: ⟦Ask…⟧")
    await expect(vscode.quick_input).to_have_attribute("placeholder", "⟦What do you want to know?⟧")
    await vscode.answer("γιατί;")
    await expect(chat.turn.get_by_text("σοφία")).to_be_visible()
    box = chat.page.get_by_role("textbox", name="⟦Message⟧", exact=True)
    assert await box.evaluate(NAMES) == ["γιατί;", file.as_uri()]

    await vscode.configure("odin.server.path", "/bin/false")
    await expect(vscode.notification("⟦Odin: ⟦")).to_be_visible()
