"""Odin's chat in the sidebar of VS Code, as its users see it."""

from playwright.async_api import FrameLocator, Locator

from tests.editors.vscode import VSCode
from tests.support import wire as kit

PASTE = """(box, data) => {
  const bytes = Uint8Array.from(atob(data), (it) => it.charCodeAt(0));
  const clipboardData = new DataTransfer();
  clipboardData.items.add(new File([bytes], "shot.png", { type: "image/png" }));
  box.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
}"""


class Chat:
    def __init__(self, vscode: VSCode) -> None:
        self._vscode = vscode

    @property
    def page(self) -> FrameLocator:
        return self._vscode.webview()

    @property
    def log(self) -> Locator:
        return self.page.get_by_role("log")

    @property
    def turn(self) -> Locator:
        """The last one."""
        return self.log.locator(".turn").last

    @property
    def said(self) -> Locator:
        """By the user."""
        return self.log.locator(".said-text")

    @property
    def box(self) -> Locator:
        """Where the user writes."""
        return self.page.get_by_role("textbox", name="Message", exact=True)

    @property
    def question(self) -> Locator:
        """One that waits for an answer."""
        return self.page.locator(".question.is-open")

    @property
    def review(self) -> Locator:
        """One that waits for decisions."""
        return self.page.get_by_role("region", name="Review", exact=True)

    @property
    def waiting(self) -> Locator:
        """Messages in the queue."""
        return self.page.get_by_role("list", name="Queued messages").get_by_role("listitem")

    @property
    def primary(self) -> Locator:
        """Buttons that stand out."""
        return self.page.locator("vscode-button:not([secondary])")

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    async def open(self) -> None:
        await self._vscode.command("odin.chat.focus")

    async def say(self, text: str, mode: str = "Ask") -> None:
        await self.page.get_by_role("combobox", name="Mode").select_option(mode)
        await self.box.fill(text)
        await self.box.press("Enter")


def begins(text: str) -> kit.Answer:
    """The model says that much, and then nothing until it is interrupted."""
    events = (kit.anthropic_start(), *kit.anthropic_text(0, text)[:-1])
    return kit.Answer([kit.anthropic_sse(*events)], held=True)
