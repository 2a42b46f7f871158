"""A server whose handlers do what Odin's should not: they crash, print, hang and ask in vain."""

import asyncio
import ctypes
import logging
import os
import sys
import threading
import warnings
from typing import Any

from pygls.lsp.server import LanguageServer

from odin_lsp.errors import OdinError
from odin_lsp.server.rpc import ClientError, OdinProtocol
from odin_lsp.server.serving import run
from odin_lsp.server.transport import stdio_channel

channel = stdio_channel()
logging.basicConfig()
server = LanguageServer("odin", "1", protocol_cls=OdinProtocol)


@server.feature("test/echo")
def echo(params):
    return params


@server.feature("test/raise")
def fail(params):
    raise {"bug": ZeroDivisionError, "memory": MemoryError, "odin": OdinError}[params["error"]]("sk-secret")


@server.feature("test/raiseLater")
async def fail_later(params):
    await asyncio.sleep(0)
    fail(params)


@server.feature("test/recurse")
def recurse(params):
    return recurse(params)


@server.feature("test/unsendable")
def unsendable(params):
    return {1, 2}.__iter__()


@server.feature("test/failElsewhere")
async def fail_elsewhere(params):
    def crash():
        raise RuntimeError("sk-secret")

    thread = threading.Thread(target=crash)
    thread.start()
    await asyncio.to_thread(thread.join)
    asyncio.get_running_loop().call_soon(crash)
    asyncio.create_task(asyncio.to_thread(crash))  # noqa: RUF006 nobody looks after it, that is the point
    await asyncio.sleep(0.01)


@server.feature("test/print")
async def print_everywhere(params):
    print("stray print")  # noqa: T201
    os.write(1, b"stray write\n")
    ctypes.CDLL(None).write(1, b"stray C\n", 8)
    warnings.warn("stray warning", stacklevel=1)
    await (await asyncio.create_subprocess_exec("echo", "stray child")).wait()
    sys.stdout.flush()


@server.feature("test/shout")
def shout(params):
    for _ in range(200):
        sys.stderr.write("x" * 10_000 + "\n")


@server.feature("test/rest")
async def rest(params):
    await asyncio.Event().wait()


@server.feature("test/child")
async def child(params):
    process = await asyncio.create_subprocess_exec("sleep", "600")
    server.protocol.notify("test/started", {"pid": process.pid})
    try:
        await process.wait()
    finally:
        process.kill()


@server.feature("test/ask")
async def ask(params):
    """Ask the client `rounds` times at once and tell what came of it, and what is left of it."""
    method, timeout = params.get("method", "test/question"), params["timeout"]
    rounds = list[asyncio.Task[Any]]()
    for _ in range(params["rounds"]):
        rounds.append(asyncio.create_task(server.protocol.ask_client(method, params.get("params"), timeout)))
        if len(rounds) % 50 == 0:
            await asyncio.sleep(0)
    outcomes = await asyncio.gather(*rounds, return_exceptions=True)
    return {
        "answered": sum(not isinstance(outcome, Exception) for outcome in outcomes),
        "refused": sum(isinstance(outcome, ClientError) for outcome in outcomes),
        "timedOut": sum(isinstance(outcome, TimeoutError) for outcome in outcomes),
        "left": len(server.protocol._request_futures) + len(server.protocol._result_types),
    }


run(server, channel)
