"""A program in a real terminal, by tmux: keys go in, and what a person would see comes out."""

import asyncio
import shlex
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.editors.neovim import until


class Terminal:
    def __init__(self, tmux: str, folder: Path, env: Mapping[str, str]) -> None:
        self._tmux = (tmux, "-S", str(folder / f"tmux-{uuid.uuid4().hex[:8]}"), "-f", "/dev/null")
        self._env = {name: value for name, value in env.items() if name not in ("TMUX", "TMUX_PANE")}

    async def start(self, command: Sequence[str], cwd: Path, width: int = 100, height: int = 60) -> None:
        size = ("-x", str(width), "-y", str(height))
        await self._run("new-session", "-d", *size, "-c", str(cwd), shlex.join(command))
        await self._run("set-option", "-g", "escape-time", "0")

    async def press(self, *keys: str) -> None:
        """Keys by their names in tmux: `Enter`, `C-c`, `M-x`."""
        await self._run("send-keys", *keys)

    async def write(self, text: str) -> None:
        await self._run("send-keys", "-l", text)

    async def paste(self, text: str) -> None:
        """As a terminal does: the program may tell it from what is typed."""
        await self._run("set-buffer", text)
        await self._run("paste-buffer", "-p", "-r")

    async def resize(self, width: int, height: int) -> None:
        await self._run("resize-window", "-x", str(width), "-y", str(height))

    async def screen(self) -> str:
        return await self._run("capture-pane", "-p")

    async def scrolled(self) -> str:
        """All that was ever on the screen, with its colors."""
        return await self._run("capture-pane", "-e", "-p", "-S", "-")

    async def shows(self, text: str) -> str:
        """Wait until the text stands on the screen; the whole screen."""

        async def seen() -> str:
            screen = await self.screen()
            return screen if text in screen else ""

        return await self._until(seen, repr(text))

    async def hides(self, text: str) -> None:
        """Wait until the text stands there no more."""

        async def gone() -> bool:
            return text not in await self.screen()

        await self._until(gone, f"no {text!r}")

    async def _until(self, condition: Callable[[], Awaitable[Any]], what: str) -> Any:
        try:
            return await until(condition, what)
        except AssertionError as error:
            raise AssertionError(f"{error}; the screen is:\n{await self.screen()}") from None

    async def close(self) -> None:
        """It is gone already if the program has ended."""
        await self._run("kill-server", check=False)

    async def _run(self, *arguments: str, check: bool = True) -> str:
        process = await asyncio.create_subprocess_exec(
            *self._tmux,
            *arguments,
            env=self._env,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        output, problem = await process.communicate()
        assert process.returncode == 0 or not check, problem.decode()
        return output.decode()
