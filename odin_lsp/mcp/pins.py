"""What the tools of servers were when the user came to know them, and whether they had resources: one private file for
each server.

A server that describes a tool in other words than before may want the model to do something else with it. Nobody hears
of the new words before the user has seen them."""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from odin_lsp import private_files, state_folder
from odin_lsp.errors import SessionError
from odin_lsp.extensions.mcp_files import McpServer
from odin_lsp.mcp.values import Definition
from odin_lsp.values import is_list, is_object


@dataclass(frozen=True, slots=True)
class Pins:
    tools: Mapping[str, Definition] = field(default_factory=dict[str, Definition])
    """By name; none of a server that is not known yet."""
    has_resources: bool = False


def read(server: McpServer) -> Pins:
    stored: Any = private_files.read_json(_file(server))
    if not is_object(stored):
        return Pins()
    tools = stored.get("tools")
    found = [it for it in map(_definition, tools) if it is not None] if is_list(tools) else []
    return Pins({it.name: it for it in found}, stored.get("resources") is True)


def keep(server: McpServer, pins: Pins) -> None:
    """Where nothing can be kept, servers are new each time."""
    tools = [{"name": it.name, "description": it.description, "schema": it.schema} for it in pins.tools.values()]
    stored = {"server": server.name, "source": str(server.source), "tools": tools, "resources": pins.has_resources}
    content = json.dumps(stored)
    with suppress(OSError, SessionError):
        private_files.write_file(_file(server), [content.encode("utf-8", "replace")], durable=False)


def forget(server: McpServer) -> None:
    with suppress(OSError):
        _file(server).unlink(missing_ok=True)


def _file(server: McpServer) -> Path:
    return state_folder.folder() / "mcp" / f"{server.identity}.json"


def _definition(stored: object) -> Definition | None:
    if not is_object(stored):
        return None
    name, description, schema = stored.get("name"), stored.get("description"), stored.get("schema")
    if not isinstance(name, str) or not isinstance(description, str) or not is_object(schema):
        return None
    return Definition(name, description, schema)
