"""`odin-lsp extensions`: what is plugged in here, and why some of it is not used."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from odin_lsp.printing import print_json, print_lines

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from odin_lsp.extensions.registry import Listed

STATES = {
    "on": "",
    "off": "off, by the settings",
    "untrusted": "not used: you have not agreed to it (`odin-lsp permissions trust`)",
    "hidden": "not used: another one has this name",
}
NONE = "nothing is plugged in: no skills, commands, agents, hooks or MCP servers, here or for you"


def add_arguments(parser: "ArgumentParser", folder: Any) -> None:
    """`folder` is the type of an option that names one."""
    parser.add_argument("--cwd", type=folder, default=".", help="the workspace")
    parser.add_argument("--json", action="store_true", help="print a list of objects")


def run(options: "Namespace") -> int:
    from odin_lsp.project.project import Project, Told
    from odin_lsp.values import to_wire

    listed = Project(Told(roots=(options.cwd,))).now.extensions.listed
    if options.json:
        print_json([to_wire(it) for it in listed])
        return 0
    for it in listed:
        print_lines(*_lines(it))
    if not listed:
        print_lines(NONE)
    return 0


def _lines(it: "Listed") -> Iterator[str]:
    cost = f" ({it.tokens} tokens)" if it.tokens else ""
    about = f": {it.description}" if it.description else ""
    yield f"{it.kind} {it.name}{about}{cost}"
    yield f"  {it.source}"
    if why := it.problem or STATES.get(it.state, ""):
        yield f"  {why}"
