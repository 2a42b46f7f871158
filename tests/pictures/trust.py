"""What a folder brings, before the question, for docs/permissions.md: in VS Code, in Neovim and in a terminal."""

import json
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

from playwright.async_api import expect

from tests.editors.debian import TMUX, fetched
from tests.editors.terminal import Terminal
from tests.editors.vscode_chat import Chat
from tests.pictures.drawing import draw
from tests.pictures.neovim import cleaned, neovim, run
from tests.pictures.vscode import picture, widen, window
from tests.support.wire import serving

WIDTH = 112
SERVER = {
    "command": "npx",
    "args": ["-y", "@acme/tracker-mcp", "--project", "shop"],
    "env": {"TRACKER_TOKEN": "${TRACKER_TOKEN}", "TRACKER_REGION": "eu"},
}
SETTINGS = {"allowedCommands": ["make test"]}
HOOK = {"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "sh scripts/prepare.sh --fetch"}]}]}}
SKILL = "---\nname: release\ndescription: How the shop is released\n---\n\nRun `make ship`.\n"
CLONED = {
    "shop.py": "def total(items):\n    return sum(item.price for item in items)\n",
    "odinconfig.json": json.dumps(SETTINGS, indent=2) + "\n",
    ".claude/settings.json": json.dumps(HOOK, indent=2) + "\n",
    ".mcp.json": json.dumps(
        {"mcpServers": {"tracker": SERVER, "wiki": {"type": "http", "url": "https://wiki.example.com/mcp"}}}, indent=2
    )
    + "\n",
    ".claude/skills/release/SKILL.md": SKILL,
    ".claude/agents/reviewer.md": "---\nname: reviewer\ndescription: Reviews a change\n---\n\nLook for bugs.\n",
    "scripts/prepare.sh": "pip download -r requirements.txt\n",
}


async def take() -> None:
    await _take_terminal()
    async with serving() as wire:
        async with neovim(wire, "shop", CLONED, settings="{}", width=WIDTH) as (terminal, _):
            await run(terminal, "OdinTrust")
            await terminal.shows("Type number")
            screen = re.sub(r"(/shop)( +) (brings\?)", r"\1 \3\2", cleaned(await terminal.scrolled()))
            draw(screen, ":OdinTrust", "neovim-trust", WIDTH)
            await terminal.press("Escape")
        async with window(wire, "shop", CLONED) as (vscode, folder):
            chat = Chat(vscode)
            await vscode.open_file(folder / "shop.py")
            await chat.open()
            await widen(vscode, 600)
            await expect(chat.question).to_be_visible()
            await picture(vscode, "trust", ["light"])


async def _take_terminal() -> None:
    with tempfile.TemporaryDirectory(prefix="odin-") as temporary:
        folder = Path(temporary)
        work = folder / "shop"
        (work / ".git").mkdir(parents=True)
        for name, text in CLONED.items():
            (work / name).parent.mkdir(parents=True, exist_ok=True)
            (work / name).write_text(text)
        homes = {name: str(folder / "home") for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")}
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        env = {**os.environ, **homes, "PATH": path, "LC_ALL": "C.UTF-8", "TERM": "xterm-256color"}
        terminal = Terminal(shutil.which("tmux") or str(fetched(TMUX)), folder, env)
        try:
            await terminal.start(["odin-lsp", "permissions", "trust"], work, width=WIDTH, height=24)
            for question, answer in (
                ("Trust ", "y"),
                ("Let this run: SessionStart", ""),
                ("Let this run: tracker", ""),
            ):
                await terminal.shows(question)
                await terminal.press(*([answer] if answer else []), "Enter")
            await terminal.shows("Let this run: wiki")
            draw(await terminal.scrolled(), "odin-lsp permissions trust", "terminal-trust", WIDTH)
        finally:
            await terminal.close()
