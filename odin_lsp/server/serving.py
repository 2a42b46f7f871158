"""One client, served to its end: it exits, hangs up or dies, or a signal says so."""

import asyncio
import logging
import os
import signal
from collections.abc import Coroutine, Mapping
from contextlib import suppress
from typing import Any, NoReturn, cast

from pygls.lsp.server import LanguageServer

from odin_lsp import system
from odin_lsp.loop_watch import watch_if_wanted
from odin_lsp.server.rpc import OdinProtocol
from odin_lsp.server.transport import Channel, Transport

LAST_PID = 2**31 - 1
"""What is beyond it is no process, and its end is not waited for."""


def run(server: LanguageServer, channel: Channel, opened: Mapping[str, Any] | None = None) -> NoReturn:
    """Serve one client, then leave the process at once: no task and no thread that hangs may keep it."""
    code = asyncio.new_event_loop().run_until_complete(serve(server, channel, opened))
    logging.shutdown()
    channel.close()
    os._exit(code)


async def serve(server: LanguageServer, channel: Channel, opened: Mapping[str, Any] | None = None) -> int:
    """Serve one client to its end and return the exit code: 0 only for `exit` after `shutdown`.

    `opened`: the parameters of its `initialize`, if that was answered already.
    What `server.load()` does, if there is one, is done before the next message is read.
    However it ends, handlers are cancelled, `server.close()` is awaited if there is one, and the last answers
    are sent, all within two seconds.
    """
    logging.getLogger("pygls").setLevel(logging.WARNING)  # below, it logs whole messages and their secrets
    protocol = cast("OdinProtocol", server.protocol)
    transport = Transport(channel)
    protocol.connect(transport)
    if opened is not None:
        protocol.take_over(opened)
    watch_if_wanted()  # not before: until here the loop has nothing else to do
    try:
        return await _first(
            protocol.exited(),
            _disconnected(server, transport, protocol),
            _signalled(),
            _orphaned(server),
        )
    finally:
        await _wind_down(server, protocol, transport)


async def _first(*endings: Coroutine[Any, Any, int]) -> int:
    """The code of the ending that comes first; of two at once, that of the one named first."""
    tasks = [asyncio.create_task(ending) for ending in endings]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return next(task.result() for task in tasks if task.done())
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


async def _disconnected(server: LanguageServer, transport: Transport, protocol: OdinProtocol) -> int:
    if load := getattr(server, "load", None):
        await load()
    match await transport.run(protocol.receive):
        case "eof" | "client gone":
            return 1
        case "broken frame":
            return 2


async def _signalled() -> int:
    loop = asyncio.get_running_loop()
    received: asyncio.Future[int] = loop.create_future()
    signals = (signal.SIGTERM, signal.SIGINT)
    with suppress(NotImplementedError, RuntimeError):  # Windows; a loop outside of the main thread
        for number in signals:
            loop.add_signal_handler(number, lambda number=number: received.done() or received.set_result(number))
    try:
        return 128 + await received
    finally:
        with suppress(NotImplementedError):
            for number in signals:
                loop.remove_signal_handler(number)


async def _orphaned(server: LanguageServer) -> int:
    while (pid := server.process_id) is None or pid > LAST_PID or system.is_alive(pid):  # noqa: ASYNC110 nobody tells
        await asyncio.sleep(1)
    return 1


async def _wind_down(server: LanguageServer, protocol: OdinProtocol, transport: Transport) -> None:
    tasks = protocol.stop()
    if close := getattr(server, "close", None):
        tasks.append(asyncio.create_task(close()))
    if tasks:
        await asyncio.wait(tasks, timeout=1)
    await transport.drain(timeout=0.5)
    transport.close()
