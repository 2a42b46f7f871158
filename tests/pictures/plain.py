"""Pictures for docs/editors.md: a message that is written in Emacs and in Helix, and the review of what it led to."""

import os
import shutil
import sys
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.e2e.steps import play_calls, says
from tests.editors.conftest import at_home, furnish
from tests.editors.debian import EMACS, HELIX, TMUX, fetched
from tests.editors.plain import Emacs, Helix
from tests.editors.terminal import Terminal
from tests.pictures.drawing import draw
from tests.support.wire import KEY, Wire, serving

WIDTH, HEIGHT = 100, 26
CODE = "def greet(name):\n    return f'hello {name}'\n\n\ndef leave(name):\n    return f'bye {name}'\n"
EDITS = [
    {"old_string": "hello {name}", "new_string": "Hello, {name}!"},
    {"old_string": "bye {name}", "new_string": "Goodbye, {name}!"},
]
HEAD = "<!-- Odin: Edit greet.py, lines 1-6."
MESSAGE = "Be polite: say Hello and Goodbye, with a comma."


async def take() -> None:
    async with _place() as (terminal, wire, work, home):
        emacs = Emacs(terminal)
        await emacs.start(fetched(EMACS), work, work / "greet.py", home, HEIGHT)
        await emacs.select_all(work / "greet.py")
        await emacs.write("Odin: Edit…", HEAD, MESSAGE)
        draw(await terminal.scrolled(), "Emacs", "emacs-message", WIDTH)
        _play(wire, work / "greet.py")
        await emacs.send()
        await terminal.shows("Odin proposes 2 changes")
        await emacs.select_all(work / "greet.py")
        await terminal.press("M-<", "C-n")
        await terminal.press("M-x")
        await terminal.write("eglot-code-action-quickfix\n")
        await terminal.shows("Pick an action")
        await terminal.press("Tab", "Tab")
        await terminal.shows("Odin: Reject this change")
        draw(await terminal.scrolled(), "Emacs", "emacs-review", WIDTH)
    async with _place() as (terminal, wire, work, home):
        helix = Helix(terminal)
        await helix.start(fetched(HELIX), work, work / "greet.py", home / ".config", HEIGHT)
        await terminal.press("%")
        await helix.write("Odin: Edit…", HEAD, MESSAGE)
        draw(await terminal.scrolled(), "Helix", "helix-message", WIDTH)
        _play(wire, work / "greet.py")
        await helix.send()
        await terminal.shows("Odin proposes 2 changes")
        await helix.command("o greet.py")
        await terminal.shows("def leave")
        await terminal.press("g", "g", "j", "Space", "a")
        await terminal.shows("Odin: Reject this change")
        draw(await terminal.scrolled(), "Helix", "helix-review", WIDTH)


@asynccontextmanager
async def _place() -> AsyncGenerator[tuple[Terminal, Wire, Path, Path]]:
    """A terminal, a model, a project and a home that nobody else has."""
    with tempfile.TemporaryDirectory(prefix="odin-") as folder:
        place = Path(folder)
        furnish(place)
        work = place / "greetings"
        (work / ".git").mkdir(parents=True)
        (work / "greet.py").write_text(CODE)
        async with serving() as wire:
            env = {
                **os.environ,
                **at_home(place),
                "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
                "ANTHROPIC_API_KEY": KEY,
                "ANTHROPIC_BASE_URL": wire.url,
                "ODIN_TITLES": "false",
                "LC_ALL": "C.UTF-8",
                "TERM": "xterm-256color",
                "COLORTERM": "truecolor",
            }
            terminal = Terminal(shutil.which("tmux") or str(fetched(TMUX)), place / "run", env)
            try:
                yield terminal, wire, work, place / "home"
            finally:
                await terminal.close()


def _play(wire: Wire, file: Path) -> None:
    play_calls(wire, ("Read", {"file_path": str(file)}))
    play_calls(wire, ("MultiEditTool", {"file_path": str(file), "edits": EDITS}))
    wire.play(says("Done."))
