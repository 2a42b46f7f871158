"""Pictures for docs/terminal.md: `odin-lsp chat` in a real terminal, drawn from what that shows."""

import asyncio
import os
import shutil
import signal
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from tests.e2e.steps import play_calls, says
from tests.editors.debian import TMUX, fetched
from tests.editors.terminal import Terminal
from tests.pictures.drawing import draw
from tests.support.wire import KEY, Answer, Wire, anthropic_sse, anthropic_start, anthropic_text, serving

WIDTH = 96
CODE = "def greet(name):\n    return f'hello {name}'\n\n\ndef leave(name):\n    return f'bye {name}'\n"
CHECK = "echo '2 tests passed'\nuntil test -e .git/go; do sleep 0.1; done\n"
"""It takes until somebody has said something."""
EDITS = [
    {"old_string": "hello {name}", "new_string": "Hello, {name}!"},
    {"old_string": "bye {name}", "new_string": "Goodbye, {name}!"},
]


async def take() -> None:
    with tempfile.TemporaryDirectory(prefix="odin-") as folder:
        async with serving() as wire:
            await _taken(Path(folder), wire)


async def _taken(folder: Path, wire: Wire) -> None:
    work = folder / "greetings"
    (work / ".git").mkdir(parents=True)
    (work / "greet.py").write_text(CODE)
    (work / "check.sh").write_text(CHECK)
    homes = {name: str(folder / "home") for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")}
    env = {
        **os.environ,
        **homes,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "ANTHROPIC_API_KEY": KEY,
        "ANTHROPIC_BASE_URL": wire.url,
        "ODIN_HOST": "off",
        "ODIN_TITLES": "false",
        "LC_ALL": "C.UTF-8",
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
    }
    tmux = shutil.which("tmux") or str(fetched(TMUX))
    terminal = Terminal(tmux, folder, env)
    try:
        (work / ".git" / "rc").write_text("PS1='$ '\n")
        await terminal.start(["bash", "--rcfile", ".git/rc"], work, width=WIDTH, height=40)
        await terminal.shows("$")
        await _say(terminal, "odin-lsp chat")
        await _talk(terminal, wire, work)
        os.kill(_chat_in(work), signal.SIGKILL)
        await terminal.shows("Killed")
        await _say(terminal, "odin-lsp chat --continue")
        await _go_on(terminal, wire)
        draw(await terminal.scrolled(), "odin-lsp chat", "terminal-chat", WIDTH)
    finally:
        await terminal.close()


async def _talk(terminal: Terminal, wire: Wire, work: Path) -> None:
    """Ask, edit with a review, allow a command, steer, undo; and be killed in the middle of the next turn."""
    await terminal.shows("· ready")
    play_calls(wire, ("Grep", {"pattern": "greet"}))
    wire.play(says("`greet` builds a string. **Nobody calls it yet.**"))
    await _say(terminal, "who calls greet in @greet.py ?")
    await terminal.shows("Nobody calls it yet.")
    await terminal.shows(" in · ")
    play_calls(wire, ("Read", {"file_path": "greet.py"}))
    play_calls(wire, ("MultiEditTool", {"file_path": "greet.py", "edits": EDITS}))
    play_calls(wire, ("ExecuteCommand", {"command": "sh check.sh"}))
    wire.play(says("Both functions greet politely now, and a default name is next."))
    await _say(terminal, "be polite")
    await terminal.shows("(1 of 2)")
    await _say(terminal, "y")
    await terminal.shows("(2 of 2)")
    await _say(terminal, "n")
    await terminal.shows("Why not?")
    await _say(terminal, "too formal")
    await terminal.shows("Allow? [")
    await _say(terminal, "y")
    await terminal.shows("2 tests passed")
    await _say(terminal, "then add a default name")
    await terminal.shows("sent to the running turn")
    (work / ".git" / "go").touch()
    await terminal.shows("is next.")
    await terminal.shows("· ready")
    await _say(terminal, "/undo")
    await terminal.shows("To bring it back")
    await terminal.shows("· ready")
    half = anthropic_sse(anthropic_start(), *anthropic_text(0, "The default could be `you`, because"))
    wire.play(Answer([half], held=True))
    await _say(terminal, "which default would you take?")
    await terminal.shows("because")


async def _go_on(terminal: Terminal, wire: Wire) -> None:
    await terminal.shows("was cut off")
    wire.play(says("I would take `you`: *Hello, you!* reads well without a name."))
    await _say(terminal, "/continue")
    await terminal.shows("reads well")
    await terminal.shows(" in · ")


def _chat_in(work: Path) -> int:
    """The process that runs there."""
    for it in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if (it / "cwd").readlink() == work and b"odin-lsp\0chat" in (it / "cmdline").read_bytes():
                return int(it.name)
    raise RuntimeError("no chat runs")


async def _say(terminal: Terminal, text: str) -> None:
    await terminal.write(text)
    await asyncio.sleep(0.3)  # a menu that completes what is typed is closed by what follows
    await terminal.press("Enter")
