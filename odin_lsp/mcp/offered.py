"""Tools of servers as models know them: by a name of their own, with texts that are checked and bounded."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from odin_lsp.mcp.values import Definition
from odin_lsp.permissions.foreign_names import MAX_NAME, fit_for_name, full_name
from odin_lsp.values import is_object
from odin_lsp.web.untrusted import visible

MAX_DESCRIPTION = 2000
MAX_DEFINITION = 32 * 1024
"""Characters: whoever needs more for one tool does not describe it."""
MAX_TOOLS = 500
CHARS_PER_TOKEN = 4


@dataclass(frozen=True)
class Offered:
    server: str
    definition: Definition
    """As the user has it, which may not be what the server says now."""
    origin: tuple[str, str]
    """Who has named the server, and where: another one may come to have its name."""

    @cached_property
    def name(self) -> str:
        return full_name(self.server, self.definition.name)

    @cached_property
    def description(self) -> str:
        text = visible(self.definition.description)[0].strip()
        return text if len(text) <= MAX_DESCRIPTION else f"{text[:MAX_DESCRIPTION]}…"

    @cached_property
    def schema(self) -> Mapping[str, Any]:
        """Without what is no part of the arguments; providers refuse it."""
        left_out = ("$schema", "$id", "title")
        schema = {key: it for key, it in self.definition.schema.items() if key not in left_out}
        properties = schema.get("properties")
        return {**schema, "type": "object", "properties": properties if is_object(properties) else {}}


def within(share: float, window: int, offered: Iterable[Offered]) -> tuple[Offered, ...]:
    """Those that may be listed: all tools of a server or none, those of the servers that cost least before others."""
    room = share * window * CHARS_PER_TOKEN
    by_server: dict[str, list[Offered]] = {}
    for it in offered:
        by_server.setdefault(it.server, []).append(it)
    listed: set[str] = set()
    for server, tools in sorted(by_server.items(), key=lambda it: cost(it[1])):
        room -= cost(tools)
        if room >= 0:
            listed.add(server)
    return tuple(it for server in by_server if server in listed for it in by_server[server])


def cost(tools: Iterable[Offered]) -> int:
    """Characters in each request that lists them."""
    return sum(len(it.name) + len(it.description) + len(json.dumps(it.schema)) for it in tools)


def usable(server: str, definitions: Iterable[Definition]) -> tuple[dict[str, Definition], list[str]]:
    """Those that can be offered, by their own names, and what is wrong with the others."""
    taken: dict[str, Definition] = {}
    names: set[str] = set()
    wrong: list[str] = []
    for it in definitions:
        shown = visible(it.name)[0][:MAX_NAME]
        if len(taken) >= MAX_TOOLS:
            wrong.append(f"only the first {MAX_TOOLS} tools are used")
            break
        if not it.name.strip() or not fit_for_name(it.name).strip("_"):
            wrong.append("a tool without a name is left out")
        elif it.has_more_than(MAX_DEFINITION):
            wrong.append(f"{shown} is left out: its definition has more than {MAX_DEFINITION:,} characters")
        elif full_name(server, it.name) in names:
            wrong.append(f"a second tool with the name {shown} is left out")
        else:
            taken[it.name] = it
            names.add(full_name(server, it.name))
    return taken, wrong
