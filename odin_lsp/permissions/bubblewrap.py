"""Bubblewrap: a command in namespaces of its own, for kernels without Landlock."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

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


def arguments(program: str, write: Sequence[Path], read_only: Sequence[Path], *, network: bool) -> list[str]:
    """What stands before the command. `read_only` are parts of what may be written, and must exist."""
    return [
        *(program, "--die-with-parent", "--unshare-user", "--unshare-pid", "--unshare-ipc", "--cap-drop", "ALL"),
        *(() if network else ("--unshare-net",)),
        *("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"),
        *(word for path in write for word in ("--bind", str(path), str(path))),
        *(word for path in read_only for word in ("--ro-bind", str(path), str(path))),
        *("--seccomp", str(FILTER_DESCRIPTOR)),
    ]
