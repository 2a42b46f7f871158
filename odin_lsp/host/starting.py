"""Starting an Odin that stays, for the next commands in a terminal."""

import asyncio
import os
import socket
import subprocess
import sys
from pathlib import Path

from odin_lsp import private_files, state_folder
from odin_lsp.errors import SessionError
from odin_lsp.host import place
from odin_lsp.values import is_object

PATIENCE = 15.0
"""Seconds until it listens."""
PAUSE = 0.02
SWITCH = "ODIN_HOST"
OFF = ("0", "false", "no", "off")


def is_wanted() -> bool:
    """A person is there, who may say more; a script is done when it is done. `host.idle` may say that it is not."""
    if os.environ.get(SWITCH, "").lower() in OFF or not sys.stderr.isatty():
        return False
    settings = private_files.read_json(state_folder.settings_file())
    host = settings.get("host") if is_object(settings) else None
    return not (is_object(host) and host.get("idle") == 0)


async def started(folder: Path) -> socket.socket | None:
    """A connection to one that was started just now; `None` if it could not be."""
    try:
        process = await asyncio.to_thread(_start, folder)
    except (OSError, SessionError):
        return None
    loop = asyncio.get_running_loop()
    until = loop.time() + PATIENCE
    while loop.time() < until:
        if (found := await asyncio.to_thread(place.connected, folder)) is not None:
            return found
        if process.poll() is not None:
            return None
        await asyncio.sleep(PAUSE)
    return None


def _start(folder: Path) -> "subprocess.Popen[bytes]":
    """Apart from this terminal, and from this folder, which may go. What it logs is in a file beside its socket."""
    path = (place.folders()[0] / place.name_of(folder)).with_suffix(".log")
    log = private_files.open_file(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    try:
        return subprocess.Popen(  # noqa: S603 - it is this program
            [sys.executable, "-m", "odin_lsp", "host", "run", "--cwd", str(folder)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=log,
            cwd="/",
            start_new_session=True,
        )
    finally:
        os.close(log)
