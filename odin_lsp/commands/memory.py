"""How much memory a process takes, with all that it has started."""

import os
import sys
from pathlib import Path


def memory_of(pid: int) -> int | None:
    """In bytes; `None` where the system does not say."""
    children: dict[int, list[int]] = {}
    pages: dict[int, int] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            status = (folder / "stat").read_bytes().rpartition(b")")[2].split()
        except OSError:
            continue
        children.setdefault(int(status[1]), []).append(int(folder.name))
        pages[int(folder.name)] = int(status[21])
    if pid not in pages:
        return None
    waiting, total = [pid], 0
    while waiting:
        process = waiting.pop()
        total += pages[process]
        waiting += children.get(process, [])
    return total * (1 if sys.platform == "win32" else os.sysconf("SC_PAGE_SIZE"))
