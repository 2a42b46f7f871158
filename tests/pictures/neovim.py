"""Screens for docs/neovim.md and docs/neovim-screens.md, taken from a real Neovim in a real terminal."""

import asyncio
import os
import re
import shutil
import sys
import tempfile
from asyncio.subprocess import DEVNULL
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from tests.e2e.steps import play_calls, says
from tests.editors.debian import NEOVIM, TMUX, fetched
from tests.editors.neovim import until
from tests.editors.terminal import Terminal
from tests.support.wire import KEY, Wire, serving

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "neovim.md"
SIZES_PAGE = ROOT / "docs" / "neovim-screens.md"
SIZES_HEAD = """\
<!-- Made by `nox -s pictures -- neovim`. Do not edit. -->

# Neovim on narrow and wide screens

Odin's chat, a review and a question in a real Neovim with 80, 100 and 200 columns, in normal and in insert mode,
without any settings. [Neovim](neovim.md) says what they are about.
"""
SETTINGS = "{'chat_width': 62, 'prompt_height': 2, 'trusted': v:true, 'settings': {'diagnostics': {'wait': 30}}}"
OPTIONS = "laststatus=0 noruler noswapfile signcolumn=no"
SKILL = "---\nname: deploy\ndescription: How this project is shipped\n---\n\nRun `make ship`.\n"
GREETINGS = {
    "greet.py": "def greet(name):\n    return f'hello {name}'\n\n\ndef leave(name):\n    return f'bye {name}'\n",
    ".claude/skills/deploy/SKILL.md": SKILL,
    ".mcp.json": '{"mcpServers": {"time": {"command": "mcp-server-time"}}}\n',
}
SHAPES = {
    "shapes.py": "def area(width: int, height: int) -> int:\n    return width * height\n",
    **{
        f"{name}.py": f"from shapes import area\n\n{name.upper()} = area({size})\n"
        for name, size in {"door": "1, 2", "floor": "4, 5", "wall": "4, 2"}.items()
    },
}
OLD, NEW, MENDED = (f"height: int{more})" for more in ("", ", scale: int", ", scale: int = 1"))
PYRIGHT = """\
vim.api.nvim_create_autocmd("FileType", { pattern = "python", callback = function()
  vim.lsp.start({ name = "pyright", cmd = { "pyright-langserver", "--stdio" }, root_dir = vim.fn.getcwd() })
end })
"""


async def take() -> None:
    screens: dict[str, str] = {}
    async with serving() as wire:
        async with neovim(wire, "greetings", GREETINGS) as (terminal, work):
            screens["ask"] = await _ask(terminal, wire)
            screens["review"] = await _review(terminal, wire, work / "greet.py")
            screens["question"] = await _question(terminal, wire)
            screens["extensions"] = await _extensions(terminal)
        sizes = [await _sized(wire, width) for width in (80, 100, 200)]
        async with neovim(wire, "shapes", SHAPES, PYRIGHT) as (terminal, work):
            screens["rename"] = await _rename(terminal, wire, work / "shapes.py")
            screens["problems"] = await _problems(terminal, wire, work / "shapes.py")
            screens["hover"] = await _hover(terminal)
    page = PAGE.read_text()
    for name, screen in screens.items():
        block = f"<!-- screen: {name} -->\n```text\n{screen}\n```"
        page = re.sub(rf"<!-- screen: {name} -->\n```text\n.*?```", lambda _, block=block: block, page, flags=re.S)
    PAGE.write_text(page)
    SIZES_PAGE.write_text("\n".join([SIZES_HEAD, *sizes]))


@asynccontextmanager
async def neovim(
    wire: Wire, name: str, files: Mapping[str, str], init: str = "", settings: str = SETTINGS, width: int = 112
) -> AsyncGenerator[tuple[Terminal, Path]]:
    """With a project of that name, and its first file open."""
    with tempfile.TemporaryDirectory(prefix="odin-screens-") as temporary:
        folder = Path(temporary)
        work = folder / name
        (work / ".git").mkdir(parents=True)
        for file, text in files.items():
            (work / file).parent.mkdir(parents=True, exist_ok=True)
            (work / file).write_text(text)
        (folder / "init.lua").write_text(init)
        env = _environment(folder, wire)
        terminal = Terminal(shutil.which("tmux") or str(fetched(TMUX)), folder, env)
        plugin = f"set runtimepath^={ROOT / 'editors' / 'neovim'} {OPTIONS}"
        chosen = f"let g:odin = {settings}"
        nvim, socket, first = str(fetched(NEOVIM)), folder / "socket", next(iter(files))
        how = ("--headless", "--listen", str(socket), "-i", "NONE", "-u", str(folder / "init.lua"))
        # A Neovim with a loader of its own cannot start itself again, as it does for a terminal: this is both halves.
        editor = await asyncio.create_subprocess_exec(
            nvim, *how, "--cmd", plugin, "--cmd", chosen, first, cwd=work, env=env, stdin=DEVNULL
        )
        try:
            await until(lambda: asyncio.to_thread(socket.exists), "Neovim listens")
            await terminal.start([nvim, "--server", str(socket), "--remote-ui"], work, width=width, height=26)
            await terminal.shows(files[first].splitlines()[0])
            yield terminal, work
        finally:
            await terminal.press("Escape")
            await run(terminal, "qa!")
            await editor.wait()
            await terminal.close()


def _environment(folder: Path, wire: Wire) -> dict[str, str]:
    homes = ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")
    return {
        **os.environ,
        **dict.fromkeys(homes, str(folder / "home")),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "ANTHROPIC_API_KEY": KEY,
        "ANTHROPIC_BASE_URL": wire.url,
        "ODIN_TITLES": "false",
        "LC_ALL": "C.UTF-8",
        "TERM": "xterm-256color",
    }


async def _sized(wire: Wire, width: int) -> str:
    """What a person sees on a screen of so many columns."""
    screens: dict[str, str] = {}
    files, settings = {"greet.py": GREETINGS["greet.py"]}, "{'trusted': v:true}"
    async with neovim(wire, "greetings", files, settings=settings, width=width) as (terminal, work):
        await _ask(terminal, wire)
        await run(terminal, "OdinChat")
        await terminal.shows("<C-s> send")
        await terminal.write("and who calls leave? @")
        screens["The chat, in insert mode"] = cleaned(await terminal.shows("@greet.py"))
        await terminal.press("C-e", "Escape")
        screens["The chat, in normal mode"] = cleaned(await terminal.shows("<CR> send"))
        await terminal.press("d", "d", "C-w", "t")
        await _propose(terminal, wire, work / "greet.py")
        screens["A review, in normal mode"] = cleaned(await terminal.shows("to review"))
        await terminal.press("o")
        await terminal.write("    # be nice")
        screens["A review, in insert mode"] = cleaned(await terminal.shows("# be nice"))
        await terminal.press("Escape", "u")
        await run(terminal, "OdinReject! later")
        await terminal.shows("As you like.")
        await _commit(terminal, wire)
        screens["A question, in normal mode"] = cleaned(await terminal.shows("Type number"))
        await terminal.press("Escape")
        await terminal.shows("Then not.")
        await terminal.press("i", "C-o")
        await _commit(terminal, wire)
        screens["A question, in insert mode"] = cleaned(await terminal.shows("Deny"))
        await terminal.press("C-\\", "2")
        await terminal.hides("<C-\\>2  Deny")
        await terminal.press("Escape")
    return f"## {width} columns\n" + "".join(f"\n{title}:\n\n```text\n{it}\n```\n" for title, it in screens.items())


async def _ask(terminal: Terminal, wire: Wire) -> str:
    play_calls(wire, ("Grep", {"pattern": "greet"}))
    wire.play(says("`greet` says hello to whoever is named.\n\n- nobody calls it yet"))
    await run(terminal, "1,2OdinAsk who calls this?")
    await terminal.shows("nobody calls it yet")
    return cleaned(await terminal.shows("end turn"))


async def _propose(terminal: Terminal, wire: Wire, file: Path) -> None:
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
    await run(terminal, "OdinEdit be polite")
    await terminal.shows("name.title()")


async def _review(terminal: Terminal, wire: Wire, file: Path) -> str:
    await _propose(terminal, wire, file)
    screen = cleaned(await terminal.shows("changes to review"))
    await run(terminal, "OdinReject! later")
    await terminal.shows("As you like.")
    return screen


async def _commit(terminal: Terminal, wire: Wire) -> None:
    play_calls(wire, ("ExecuteCommand", {"command": "python3 -m pytest -q && git commit -am done"}))
    wire.play(says("Then not."))
    await run(terminal, "OdinEdit commit it")


async def _question(terminal: Terminal, wire: Wire) -> str:
    await _commit(terminal, wire)
    screen = cleaned(await terminal.shows("Type number"))
    await terminal.press("Escape")
    await terminal.shows("Then not.")
    return screen


async def _extensions(terminal: Terminal) -> str:
    await run(terminal, "OdinExtensions")
    screen = cleaned(await terminal.shows("Type number"))
    await terminal.press("Escape")
    await terminal.hides("Type number")
    return screen


async def _rename(terminal: Terminal, wire: Wire, file: Path) -> str:
    place = {"file_path": str(file), "line": 1, "symbol": "area"}
    play_calls(wire, ("Refactor", {"what": "rename", "new_name": "surface", **place}))
    wire.play(says("Then it stays `area`."))
    await run(terminal, "OdinEdit rename area to surface")
    await terminal.shows("changes to review")
    await run(terminal, "OdinReview")
    screen = cleaned(await terminal.shows("wall.py|3"))
    await run(terminal, "cclose")
    await run(terminal, "OdinReject!")
    await terminal.shows("Then it stays")
    return screen


async def _problems(terminal: Terminal, wire: Wire, file: Path) -> str:
    path = {"file_path": str(file)}
    play_calls(wire, ("Read", path))
    for old, new in ((OLD, NEW), (NEW, MENDED)):
        play_calls(wire, ("EditTool", path | {"old_string": old, "new_string": new}))
    wire.play(says("`area` takes a `scale`."))
    await run(terminal, "OdinEdit let area take a scale")
    await terminal.shows("change to review")
    await run(terminal, "OdinAccept rest")
    await terminal.shows("fixed: wall.py")
    return cleaned(await terminal.shows("end turn"))


async def _hover(terminal: Terminal) -> str:
    await run(terminal, "1")
    await run(terminal, "lua vim.lsp.buf.hover()")
    return cleaned(await terminal.shows("wrote this line"))


async def run(terminal: Terminal, command: str) -> None:
    await terminal.write(f":{command}")
    await terminal.press("Enter")


def cleaned(screen: str) -> str:
    """Folders are new each time; the page is not to change for that."""
    screen = re.sub(r"/\S*odin-screens-\w+(/\S*)", lambda found: f"/home/me{found[1]}".ljust(len(found[0])), screen)
    screen = re.sub(r"/\S*/odin-(?=\s*$)", "/home/me/", screen, flags=re.M)  # a name that is broken over lines
    screen = re.sub(r"odin-screens-\w+|(?<=\W)screens-\w{8}(?=/)", "odin", screen)
    return "\n".join(line.rstrip() for line in screen.rstrip().splitlines())
