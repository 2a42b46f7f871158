"""Python processes without the wait for what they import: forked from one that has imported it.

`forked` makes a command like any other, and the process behind it is a real one, with the descriptors, environment,
folder, umask and arguments that the command was given, and with an exit code of its own. But its number is not the one
that the test knows; in `/proc` it has the memory, command line and environment of what it was forked from; and its
strings hash as those of its siblings do. Who kills it kills what stands for it, and the process is killed soon after:
before another one is forked, but editors may have hung up by then. Tests that are about these, or about how Python
starts or hears a signal, start Python itself.
"""

import atexit
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
LAUNCHER = Path(__file__).with_name("fork_launcher.py")
ENVIRONMENT = dict(os.environ)
"""As it was before any test has changed it."""
_SERVERS: list[int] = []


def forked(command: Sequence[str]) -> list[str]:
    """What to start instead of `command`, which is Python with a module or a script."""
    python, *arguments = command
    return [python, "-I", "-S", str(LAUNCHER), str(_fork_server()), *arguments]


def make_program(path: Path, command: Sequence[str], **variables: str) -> None:
    """The same for those who start a program by its name, in surroundings with these variables, which Python reads when
    it starts."""
    python, *arguments = command
    inserted = [str(_fork_server(**variables)), *arguments]
    code = f"import runpy, sys\nsys.argv[1:1] = {inserted}\nrunpy.run_path({str(LAUNCHER)!r})\n"
    path.write_text(f"#!{python} -IS\n{code}")
    path.chmod(0o755)


def children() -> set[str]:
    """The processes of this one that are not the fork server."""
    found = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return set(found) - {str(it) for it in _SERVERS}


@cache
def _fork_server(**variables: str) -> Path:
    """Where it listens, when it has imported everything: one for all tests of this process."""
    folder = Path(tempfile.mkdtemp(prefix="odin-forks-"))
    address = folder / "socket"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(address))
        listener.listen()
        server = subprocess.Popen(
            [sys.executable, "-m", "tests.support.fork_server", str(listener.fileno())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
            env={**ENVIRONMENT, **variables},
            pass_fds=[listener.fileno()],
        )
    _SERVERS.append(server.pid)
    atexit.register(_end, server, folder)
    assert server.stdout is not None
    assert server.stdout.readline(), "the fork server has ended"
    return address


def _end(server: "subprocess.Popen[bytes]", folder: Path) -> None:
    server.communicate()
    shutil.rmtree(folder)
