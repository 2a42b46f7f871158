"""What is piped into a command: its prompt, or what the prompt is about."""

import os
import stat
import sys

from odin_lsp import system
from odin_lsp.printing import say

PATIENCE = 3.0
"""Seconds that a pipe has to begin. Whoever starts Odin may have left one open by mistake."""
NOTHING_CAME = f"odin: nothing came from stdin within {PATIENCE:.0f} s; Odin goes on without it"


def read() -> str:
    """All of it. Questions are then asked on the terminal, if there is one."""
    text = sys.stdin.buffer.read().decode("utf-8", "replace")
    _turn_to_terminal()
    return text


def added_to(prompt: str) -> str:
    return f"{prompt}\n\n{text}" if _is_coming() and (text := read()).strip() else prompt


def _is_coming() -> bool:
    mode = os.fstat(sys.stdin.fileno()).st_mode
    if stat.S_ISREG(mode):
        return True
    if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
        return False
    if not system.is_readable(sys.stdin.fileno(), PATIENCE):
        say(NOTHING_CAME)
        return False
    return True


def _turn_to_terminal() -> None:
    if not sys.stderr.isatty():
        return
    try:
        terminal = os.open("/dev/tty", os.O_RDWR)
    except OSError:
        return
    os.dup2(terminal, 0)
    os.close(terminal)
    sys.stdin = os.fdopen(0, encoding=sys.stdin.encoding, errors=sys.stdin.errors, closefd=False)
