"""Screens for docs/neovim.md, taken from a real Neovim in a real terminal: `python -m tests.editors.screens`."""

import asyncio
import os
import re
import shutil
import sys
import tempfile
from asyncio.subprocess import DEVNULL
from pathlib import Path

from tests.e2e.steps import play_calls, says
from tests.editors.debian import NEOVIM, TMUX, fetched
from tests.editors.neovim import until
from tests.editors.terminal import Terminal
from tests.support.wire import KEY, Wire, serving

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "neovim.md"
CODE = "def greet(name):\n    return f'hello {name}'\n\n\ndef leave(name):\n    return f'bye {name}'\n"


async def main() -> None:
    with tempfile.TemporaryDirectory(prefix="odin-screens-") as folder:
        async with serving() as wire:
            screens = await _taken(Path(folder), wire)
    page = PAGE.read_text()
    for name, screen in screens.items():
        block = f"<!-- screen: {name} -->\n```text\n{screen}\n```"
        page = re.sub(rf"<!-- screen: {name} -->\n```text\n.*?```", lambda _, block=block: block, page, flags=re.S)
    PAGE.write_text(page)


async def _taken(folder: Path, wire: Wire) -> dict[str, str]:
    work = folder / "greetings"
    (work / ".git").mkdir(parents=True)
    (work / "greet.py").write_text(CODE)
    homes = {name: str(folder / "home") for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")}
    env = {
        **os.environ,
        **homes,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "ANTHROPIC_API_KEY": KEY,
        "ANTHROPIC_BASE_URL": wire.url,
        "ODIN_TITLES": "false",
        "LC_ALL": "C.UTF-8",
        "TERM": "xterm-256color",
    }
    terminal = Terminal(shutil.which("tmux") or str(fetched(TMUX)), folder, env)
    plugin = f"set runtimepath^={ROOT / 'editors' / 'neovim'} laststatus=0 noruler noswapfile"
    width = "let g:odin = {'chat_width': 62, 'prompt_height': 2}"
    nvim, socket = str(fetched(NEOVIM)), folder / "socket"
    options = ("--headless", "--listen", str(socket), "-i", "NONE", "--cmd", plugin, "--cmd", width)
    # A Neovim with a loader of its own cannot start itself again, as it does for a terminal: this is both halves.
    editor = await asyncio.create_subprocess_exec(nvim, *options, "greet.py", cwd=work, env=env, stdin=DEVNULL)
    try:
        await until(lambda: asyncio.to_thread(socket.exists), "Neovim listens")
        await terminal.start([nvim, "--server", str(socket), "--remote-ui"], work, width=112, height=24)
        await terminal.shows("def leave")
        return {
            "ask": await _ask(terminal, wire),
            "review": await _review(terminal, wire, work / "greet.py"),
            "question": await _question(terminal, wire),
        }
    finally:
        await terminal.write(":qa!")
        await terminal.press("Enter")
        await editor.wait()
        await terminal.close()


async def _ask(terminal: Terminal, wire: Wire) -> str:
    play_calls(wire, ("Grep", {"pattern": "greet"}))
    wire.play(says("`greet` says hello to whoever is named.\n\n- nobody calls it yet"))
    await terminal.write(":1,2OdinAsk who calls this?")
    await terminal.press("Enter")
    await terminal.shows("nobody calls it yet")
    return _cleaned(await terminal.shows("end turn"))


async def _review(terminal: Terminal, wire: Wire, file: Path) -> str:
    play_calls(wire, ("Read", {"file_path": str(file)}))
    edits = [
        {"old_string": "hello {name}", "new_string": "hello, {name}!"},
        {
            "old_string": "    return f'bye {name}'\n",
            "new_string": "    name = name.title()\n    return f'bye {name}'\n",
        },
    ]
    play_calls(wire, ("MultiEditTool", {"file_path": str(file), "edits": edits}))
    wire.play(says("As you like."))
    await terminal.write(":OdinEdit be polite")
    await terminal.press("Enter")
    await terminal.shows("name.title()")
    screen = _cleaned(await terminal.shows("changes to review"))
    await terminal.write(":OdinReject! later")
    await terminal.press("Enter")
    await terminal.shows("As you like.")
    return screen


async def _question(terminal: Terminal, wire: Wire) -> str:
    play_calls(wire, ("ExecuteCommand", {"command": "python3 -m pytest -q && git commit -am done"}))
    wire.play(says("Then not."))
    await terminal.write(":OdinEdit commit it")
    await terminal.press("Enter")
    screen = _cleaned(await terminal.shows("Type number"))
    await terminal.press("Escape")
    await terminal.shows("Then not.")
    return screen


def _cleaned(screen: str) -> str:
    """Folders are new each time; the page is not to change for that."""
    screen = re.sub(r"/\S*odin-screens-\w+(/\S*)", lambda found: f"/home/me{found[1]}".ljust(len(found[0])), screen)
    return "\n".join(line.rstrip() for line in screen.rstrip().splitlines())


if __name__ == "__main__":
    asyncio.run(main())
