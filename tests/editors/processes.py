"""Processes of Odin's server, as the operating system knows them."""

import os
from contextlib import suppress
from pathlib import Path

from tests.editors.vscode import VSCode


def servers(vscode: VSCode) -> dict[int, Path]:
    """Those that this VS Code has started, each with its program."""
    found: dict[int, Path] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            programs = [it for it in (folder / "cmdline").read_text().split("\0") if Path(it).name == "odin-lsp"]
            if programs and os.getsid(int(folder.name)) == vscode.process.pid:
                found[int(folder.name)] = Path(programs[0])
    return found
