"""A real Neovim without a screen, driven over its own msgpack-RPC."""

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from typing import Any

import msgpack
import pytest

NEWEST = pytest.mark.parametrize("nvim", ["newest"], indirect=True)
"""For what does not depend on Neovim's version."""
CODEC: Any = msgpack
"""It says nothing of its types."""
PATIENCE = 60
"""Seconds: nothing waits so long unless it waits for ever."""

NOTE_EVENTS = """
_G.events, _G.finished = {}, {}
vim.api.nvim_create_autocmd("User", { pattern = "Odin*", callback = function(event)
  _G.events[event.match] = (_G.events[event.match] or 0) + 1
  if event.match == "OdinTurnFinished" then
    table.insert(_G.finished, event.data.event.outcome)
  end
end })
"""
READY = "vim.iter(vim.lsp.get_clients({ name = 'odin' })):any(function(it) return it.initialized end)"


class NeovimError(Exception):
    """What Neovim says went wrong."""


class Neovim:
    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self._ids = itertools.count(1)
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._reading = asyncio.create_task(self._read())

    async def call(self, method: str, *arguments: Any) -> Any:
        """An API function; what it returns."""
        number = next(self._ids)
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        self._write([0, number, method, arguments])
        async with asyncio.timeout(PATIENCE):
            return await answer

    async def lua(self, code: str, *arguments: Any) -> Any:
        return await self.call("nvim_exec_lua", code, arguments)

    async def command(self, text: str) -> None:
        await self.call("nvim_command", text)

    async def press(self, keys: str) -> None:
        """Type, as a person does: also while Neovim waits for an answer."""
        await self.call("nvim_input", keys)

    async def feed(self, keys: str) -> None:
        """Keys that are not to be taken for an interrupt, which CTRL-C can be while Neovim is busy."""
        await self.lua("vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes(..., true, true, true), 'm', false)", keys)

    async def until(self, condition: str, *arguments: Any) -> Any:
        """Wait until the Lua expression is true; its value."""
        try:
            return await until(lambda: self.lua(f"return {condition}", *arguments), condition)
        except AssertionError as error:
            raise AssertionError(f"{error}\nNeovim has said:\n{await self.messages()}") from None

    async def until_asked(self) -> None:
        """Wait until Neovim waits for a key: a prompt stands on the screen."""

        async def asked() -> bool:
            mode = await self.call("nvim_get_mode")
            return mode["blocking"] or mode["mode"] == "c"

        await until(asked, "a prompt")

    async def lines(self, buffer: int = 0) -> list[str]:
        return await self.call("nvim_buf_get_lines", buffer, 0, -1, False)

    async def messages(self) -> str:
        """All that it has said."""
        return (await self.call("nvim_exec2", "messages", {"output": True}))["output"]

    async def close(self) -> None:
        if self.process.returncode is None:
            self.process.kill()
        await self.process.wait()
        await asyncio.wait([self._reading])

    async def _read(self) -> None:
        unpacker = CODEC.Unpacker(ext_hook=_handle, strict_map_key=False, unicode_errors="surrogateescape")
        stdout = self.process.stdout
        while stdout and (data := await stdout.read(65536)):
            unpacker.feed(data)
            for message in unpacker:
                self._take(message)
        for answer in self._answers.values():
            answer.set_exception(NeovimError("Neovim has ended"))

    def _take(self, message: list[Any]) -> None:
        match message:
            case [1, number, None, result]:
                self._answers.pop(number).set_result(result)
            case [1, number, error, _]:
                self._answers.pop(number).set_exception(NeovimError(error[1]))
            case _:
                pass

    def _write(self, message: list[Any]) -> None:
        if self.process.stdin:
            self.process.stdin.write(CODEC.packb(message, unicode_errors="surrogateescape"))


async def until(condition: Callable[[], Awaitable[Any]], what: str) -> Any:
    """Look again and again; nothing tells of every change."""
    try:
        async with asyncio.timeout(PATIENCE):
            while not (found := await condition()):
                await asyncio.sleep(0.02)
            return found
    except TimeoutError:
        raise AssertionError(f"never came true: {what}") from None


def _handle(_code: int, data: bytes) -> int:
    """Buffers, windows and tab pages are numbers."""
    return CODEC.unpackb(data)
