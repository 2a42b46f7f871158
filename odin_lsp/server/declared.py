"""Names that the files of a package declare, read off their text: importing them all would delay the start."""

import re
from pathlib import Path
from types import ModuleType

from odin_lsp import tools
from odin_lsp.server import commands


def tool_names() -> tuple[str, ...]:
    return tuple(sorted(_declared(tools, r'^    name = "(\w+)"')))


def command_names() -> tuple[str, ...]:
    return _declared(commands, r'^@command\("([\w.]+)"')


def _declared(package: ModuleType, declaration: str) -> tuple[str, ...]:
    files = sorted(Path(package.__path__[0]).glob("*.py"))
    return tuple(name for file in files for name in re.findall(declaration, file.read_text("utf-8"), re.MULTILINE))
