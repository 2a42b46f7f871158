"""Names of files, given and exchanged in one step, by kernels and file systems that can."""

import errno
import os
import sys
from functools import cache
from typing import Any

_NO_REPLACE = 1
_EXCHANGE = 2
_UNABLE = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM)


def exchange(one: str, two: str, folder: int) -> bool:
    """What has the one name has the other one then; whether that can be done here."""
    return _renamed(one, two, folder, folder, _EXCHANGE)


def give_name(name: str, new: str, source: int, target: int) -> bool:
    """Another name, one that nothing has; whether that can be done here."""
    return _renamed(name, new, source, target, _NO_REPLACE)


def _renamed(name: str, new: str, source: int, target: int, how: int) -> bool:
    rename, problem = _kernel()
    if rename is None:
        return False
    if rename(source, os.fsencode(name), target, os.fsencode(new), how) == 0:
        return True
    number = problem()
    if number in _UNABLE:
        return False
    raise OSError(number, os.strerror(number))


@cache
def _kernel() -> tuple[Any, Any]:
    if sys.platform == "win32":
        return None, int
    import ctypes  # editors start the server without it

    return getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None), ctypes.get_errno
