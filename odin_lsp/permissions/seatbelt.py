"""Seatbelt: the sandbox of macOS, as a profile that `sandbox-exec` takes."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from odin_lsp.permissions.reader import Reach

PROGRAM = "/usr/bin/sandbox-exec"
DEVICES = ("/dev/null", "/dev/zero", "/dev/dtracehelper")
SERVICES = ("com.apple.system.opendirectoryd.libinfo", "com.apple.system.notification_center")
"""That tell the names of users, and that something has changed."""


RESOLVER = "/private/var/run/mDNSResponder"
"""By which names become addresses."""


def profile(
    write: Sequence[Path],
    protect: Sequence[Path],
    read: Reach | None = None,
    *,
    network: bool,
    agents: Sequence[Path] = (),
) -> str:
    """Later lines win. Names are matched whether or not there is such a file, and in any case."""
    lines = [
        "(version 1)",
        *(("(allow default)", "(deny file-write*)", "(deny signal)") if read is None else _only(read)),
        "(allow signal (target same-sandbox))",
        "(deny process-info* (target others))",
        *(f"(allow file-write* (literal {_quoted(device)}))" for device in DEVICES),
        *(f"(allow file-write* (subpath {_quoted(str(path))}))" for path in write),
        *(f'(deny file-write* (regex #"^{_any_case(path)}(/|$)"))' for path in protect),
        *(_own_sockets(write, agents) if network else ("(deny network*)",)),
    ]
    return "\n".join(lines) + "\n"


def _own_sockets(folders: Sequence[Path], agents: Sequence[Path]) -> Iterator[str]:
    """By where they are: whose a socket is, a profile cannot say."""
    yield "(deny network-outbound (remote unix-socket))"
    for path in (RESOLVER, *map(str, agents)):
        yield f"(allow network-outbound (remote unix-socket (path-literal {_quoted(path)})))"
    for folder in folders:
        yield f"(allow network-outbound (remote unix-socket (subpath {_quoted(str(folder))})))"


def _only(read: Reach) -> Iterator[str]:
    """Nothing is allowed but to read what may be read, and to run programs."""
    yield "(deny default)"
    yield "(allow process-fork process-info-pidinfo sysctl-read file-read-metadata)"
    yield f"(allow mach-lookup {' '.join(f'(global-name {_quoted(name)})' for name in SERVICES)})"
    yield '(allow file-read* (literal "/"))'
    yield from (f"(allow file-read* file-ioctl (literal {_quoted(device)}))" for device in DEVICES)
    yield from (f"(allow file-read* file-map-executable process-exec* (subpath {_quoted(str(it))}))" for it in read.run)
    yield from (f"(allow file-read* (subpath {_quoted(str(path))}))" for path in read.files)
    yield from (f'(deny file-read-data (regex #"^{_any_case(path)}(/|$)"))' for path in read.hidden)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _any_case(path: Path) -> str:
    letters = (f"[{it.lower()}{it.upper()}]" if it.isascii() and it.isalpha() else re.escape(it) for it in str(path))
    return "".join(letters).replace('"', '["]')
