"""Seatbelt: the sandbox of macOS, as a profile that `sandbox-exec` takes."""

import re
from collections.abc import Sequence
from pathlib import Path

PROGRAM = "/usr/bin/sandbox-exec"
DEVICES = ("/dev/null", "/dev/zero", "/dev/dtracehelper")


def profile(write: Sequence[Path], protect: Sequence[Path], *, network: bool) -> str:
    """Later lines win. Names are matched whether or not there is such a file, and in any case."""
    lines = [
        "(version 1)",
        "(allow default)",
        "(deny file-write*)",
        "(deny signal)",
        "(allow signal (target same-sandbox))",
        "(deny process-info* (target others))",
        *(f"(allow file-write* (literal {_quoted(device)}))" for device in DEVICES),
        *(f"(allow file-write* (subpath {_quoted(str(path))}))" for path in write),
        *(f'(deny file-write* (regex #"^{_any_case(path)}(/|$)"))' for path in protect),
        *(() if network else ("(deny network*)",)),
    ]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _any_case(path: Path) -> str:
    letters = (f"[{it.lower()}{it.upper()}]" if it.isascii() and it.isalpha() else re.escape(it) for it in str(path))
    return "".join(letters).replace('"', '["]')
