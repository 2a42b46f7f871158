"""A client on stdin and stdout that speaks JSON-RPC, a message a line: served until it hangs up or a signal says so."""

import asyncio
import logging
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn, Protocol

from odin_lsp.frames import Frame, Lines, as_line
from odin_lsp.tasks import run_to_end

if TYPE_CHECKING:
    from odin_lsp.logs import Level
    from odin_lsp.server.transport import Channel

WIND_DOWN = 5.0
"""Seconds that turns, commands and MCP servers have to end."""


class Door(Protocol):
    def receive(self, line: Frame, /) -> None: ...

    async def close(self) -> None:
        """The client is gone."""
        ...


Make = Callable[[Callable[[bytes], None]], Door]
"""A door, given how to send a line."""


def run(make: Make, log_level: "Level | None") -> NoReturn:
    """Leave the process at once in the end: no thread that hangs may keep it."""
    from odin_lsp.logs import Logs
    from odin_lsp.server.transport import stdio_channel

    channel = stdio_channel()
    logs = Logs("error")
    logs.configure(log_level)
    logs.begin()
    run_to_end(_serve(make, channel))
    logging.shutdown()
    channel.close()
    os._exit(0)


async def _serve(make: Make, channel: "Channel") -> None:
    from odin_lsp.server.transport import Transport

    transport = Transport(channel, Lines(), as_line)
    door = make(transport.send)
    serving = asyncio.ensure_future(transport.run(door.receive))
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        with suppress(NotImplementedError):  # Windows
            loop.add_signal_handler(number, serving.cancel)
    await asyncio.wait([serving])
    with suppress(TimeoutError):
        async with asyncio.timeout(WIND_DOWN):
            await door.close()
    await transport.drain(0.5)
    transport.close()
