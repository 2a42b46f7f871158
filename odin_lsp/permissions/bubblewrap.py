"""Bubblewrap: a command in namespaces of its own, for kernels without Landlock."""

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from odin_lsp.permissions.reader import PROGRAMS, SETTINGS, Reach

FILTER_DESCRIPTOR = 63
PROBE_SECONDS = 5


def find() -> str | None:
    """Bubblewrap as the system has it; what a user's PATH says before does not count."""
    return shutil.which("bwrap", path=os.defpath) or shutil.which(
        "bwrap", path="/usr/local/bin:/run/current-system/sw/bin"
    )


def works(program: str) -> bool:
    """Whether it may make namespaces here; many systems and containers do not let it."""
    command = [*arguments(program, (), (), network=False), "--", "/bin/sh", "-c", ":"]
    without_filter = [word for word in command if word not in ("--seccomp", str(FILTER_DESCRIPTOR))]
    try:
        done = subprocess.run(  # noqa: S603
            without_filter, stdin=subprocess.DEVNULL, capture_output=True, timeout=PROBE_SECONDS, env={}, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def arguments(
    program: str, write: Sequence[Path], read_only: Sequence[Path], read: Reach | None = None, *, network: bool
) -> list[str]:
    """What stands before the command. `read_only` are parts of what may be written, and must exist."""
    return [
        *(program, "--die-with-parent", "--unshare-user", "--unshare-pid", "--unshare-ipc", "--cap-drop", "ALL"),
        *(() if network else ("--unshare-net",)),
        *(("--ro-bind", "/", "/") if read is None else _only(read)),
        *("--dev", "/dev", "--proc", "/proc"),
        *(word for path in write for word in ("--bind", str(path), str(path))),
        *(word for path in read_only for word in ("--ro-bind", str(path), str(path))),
        *("--seccomp", str(FILTER_DESCRIPTOR)),
    ]


def _only(read: Reach) -> Iterator[str]:
    """A root in which nothing is but what may be read."""
    for link in map(Path, (*PROGRAMS, *SETTINGS)):
        if link.is_symlink():
            yield from ("--symlink", str(link.readlink()), str(link))
    for path in (*read.run, *read.files):
        if not path.is_relative_to("/proc") and not path.is_relative_to("/dev"):
            yield from ("--ro-bind-try", str(path), str(path))
    for path in read.hidden:
        yield from ("--tmpfs", str(path)) if path.is_dir() else ("--ro-bind", os.devnull, str(path))
