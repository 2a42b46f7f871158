"""Emacs and Helix as their users have them who do what docs/editors.md says."""

from pathlib import Path

from tests.editors.neovim import until
from tests.editors.terminal import Terminal

DOCS = Path(__file__).parents[2] / "docs" / "editors.md"
SEND = "Odin: Send this message"


def settings(editor: str) -> str:
    """What the documentation tells the users of an editor to write."""
    section = DOCS.read_text().split(f"\n## {editor}\n")[1]
    return section.split("```")[1].partition("\n")[2]


class Emacs:
    def __init__(self, terminal: Terminal) -> None:
        self.terminal = terminal

    async def start(self, program: Path, root: Path, file: Path, home: Path, height: int = 90) -> None:
        (home / ".emacs").write_text(settings("Emacs"))
        await self.terminal.start([str(program), "-nw", "--no-splash", str(file)], root, height=height)
        await self.terminal.shows("[eglot:")

    async def act(self, title: str, command: str = "eglot-code-actions") -> None:
        await self.terminal.press("M-x")
        await self.terminal.write(f"{command}\n")
        await self.terminal.shows("Pick an action")
        await self.terminal.write(f"{title}\n")
        await self.terminal.hides("Pick an action")

    async def select_all(self, file: Path) -> None:
        """In the only window."""
        await self.terminal.press("C-x", "b")
        await self.terminal.write(f"{file.name}\n")
        await self.terminal.press("C-x", "1", "C-x", "h")

    async def write(self, action: str, head: str, message: str) -> None:
        """Choose the action, and write the message in the document that it opens."""
        await self.act(action)
        await self.terminal.shows(head)
        await self.terminal.write(message)
        await self.terminal.shows(message)

    async def send(self) -> None:
        """What was written, without saving it."""
        await self.act(SEND)


class Helix:
    def __init__(self, terminal: Terminal) -> None:
        self.terminal = terminal

    async def start(self, program: Path, root: Path, file: Path, config: Path, height: int = 60) -> None:
        (config / "helix").mkdir(exist_ok=True)
        (config / "helix" / "languages.toml").write_text(settings("Helix"))
        log = root.parent / "helix.log"
        log.unlink(missing_ok=True)
        await self.terminal.start([str(program), "-vv", "--log", str(log), str(file)], root, height=height)

        async def ready() -> bool:
            return log.exists() and '"serverInfo"' in log.read_text()

        await until(ready, "the server is there")

    async def command(self, text: str) -> None:
        await self.terminal.write(f":{text}")
        await self.terminal.press("Enter")

    async def open(self, file: Path) -> None:
        await self.command(f"o {file.name}")
        await self.terminal.shows("gamma = 3")

    async def act(self, title: str) -> None:
        """The first entry of the menu is chosen already."""
        await self.terminal.press("Space", "a")
        screen = await self.terminal.shows(title)
        entries = [line for line in screen.splitlines() if "Odin: " in line]
        above = next(index for index, entry in enumerate(entries) if title in entry)
        await self.terminal.press(*["Down"] * above, "Enter")
        await self.terminal.hides(title)

    async def write(self, action: str, head: str, message: str) -> None:
        """Choose the action, and write the message in the document that it opens."""
        await self.act(action)
        await self.terminal.shows(head)
        await self.terminal.press("i")
        await self.terminal.write(message)
        await self.terminal.shows(message)
        await self.terminal.press("Escape")
        await self.terminal.shows(" NOR ")  # or it may take the next key for one with Alt

    async def send(self) -> None:
        """What was written, without saving it."""
        await self.terminal.press("Space", "a")

        async def offered() -> bool:
            return (await self.terminal.screen()).count(SEND) == 2  # in the head of the document, and in the menu

        await until(offered, "it can be sent")
        await self.terminal.press("Enter")

    async def reads(self, answer: str) -> None:
        """Until it is there: Helix does not read an open file again by itself."""

        async def seen() -> bool:
            await self.command("reload-all")
            return answer in await self.terminal.screen()

        await until(seen, repr(answer))
