"""Hears of calls that wait without using the processor, or whose work grows with what they are given.

Python tells of most by its audit events; what it does not tell of is wrapped, as long as somebody listens."""

import os
import select
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import wraps
from typing import Any

if sys.platform == "win32":
    DOES_NOT_WAIT = WNOHANG = 0
else:
    import fcntl

    DOES_NOT_WAIT, WNOHANG = fcntl.LOCK_NB | fcntl.LOCK_UN, os.WNOHANG

LARGE_FILE = 2**20
"""Bytes: to read more than these grows."""

Waits = Callable[..., bool]
"""Whether a call with these arguments would."""
Hear = Callable[[str], None]


def _always(*_: Any, **__: Any) -> bool:
    return True


def _waits_for_lock(_: Any, operation: int, *__: Any) -> bool:
    return not operation & DOES_NOT_WAIT


def _waits_to_connect(connecting: socket.socket, _: Any) -> bool:
    return connecting.gettimeout() != 0


def _is_large(path: Any, _: Any, flags: int) -> bool:
    """Whether a large file is opened to be read, as far as its path or its descriptor tells."""
    if not isinstance(path, str | bytes | int) or flags & (os.O_WRONLY | os.O_APPEND):
        return False
    with suppress(OSError, ValueError):
        status = os.stat(path)  # noqa: PTH116 - it may be a descriptor
        return stat.S_ISREG(status.st_mode) and status.st_size > LARGE_FILE
    return False


def _is_alive(thread: threading.Thread, *_: Any, **__: Any) -> bool:
    return thread.is_alive()


def _runs(process: "subprocess.Popen[Any]", *_: Any, **__: Any) -> bool:
    return process.poll() is None


def _waits_for_word(_: threading.Condition, timeout: float | None = None) -> bool:
    return timeout is None or timeout > 0


def _waits_for_end(_: int, options: int) -> bool:
    return not options & WNOHANG


def _waits_for_files(_: Any, __: Any, ___: Any, timeout: float | None = None) -> bool:
    return timeout is None or timeout > 0


AUDITED: Mapping[str, Waits] = {
    **dict.fromkeys(("subprocess.Popen", "os.system", "os.posix_spawn"), _always),
    **dict.fromkeys(("fcntl.flock", "fcntl.lockf"), _waits_for_lock),
    **dict.fromkeys(("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"), _always),
    **dict.fromkeys(("os.walk", "glob.glob", "shutil.rmtree", "shutil.copytree"), _always),
    "socket.connect": _waits_to_connect,
    "open": _is_large,
}
"""By the event that Python tells of them."""
WRAPPED: tuple[tuple[Any, str, Waits], ...] = (
    (time, "sleep", _always),
    (threading.Condition, "wait", _waits_for_word),
    (threading.Thread, "join", _is_alive),
    (subprocess.Popen, "wait", _runs),
    (os, "waitpid", _waits_for_end),
    (select, "select", _waits_for_files),
)
"""Events, queues and futures wait by a `Condition`."""

_listener: Callable[[], Hear | None] | None = None
_originals: list[tuple[Any, str, Any]] = []
_has_hook = False


def listen(listener: Callable[[], Hear | None]) -> None:
    """`listener` says who in this thread wants to hear the name of the call, if anybody does."""
    global _listener, _has_hook
    _listener = listener
    if not _has_hook:
        _has_hook = True
        sys.addaudithook(_audit)  # for good: there is no way to take it back
    for owner, name, waits in WRAPPED if not _originals else ():
        original = getattr(owner, name)
        _originals.append((owner, name, original))
        setattr(owner, name, _telling(f"{_name_of(owner)}.{name}", original, waits))


def listen_no_more() -> None:
    global _listener
    _listener = None
    while _originals:
        setattr(*_originals.pop())


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if event in AUDITED and _listener is not None:
        hear = _listener()
        if hear is not None and AUDITED[event](*arguments):
            hear(f"{event}({arguments[0]!r})" if arguments else event)


def _telling(name: str, original: Callable[..., Any], waits: Waits) -> Callable[..., Any]:
    @wraps(original)
    def telling(*arguments: Any, **named: Any) -> Any:
        hear = _listener() if _listener is not None else None
        if hear is not None and waits(*arguments, **named):
            hear(name)
        return original(*arguments, **named)

    return telling


def _name_of(owner: Any) -> str:
    return f"{owner.__module__}.{owner.__name__}" if isinstance(owner, type) else owner.__name__
