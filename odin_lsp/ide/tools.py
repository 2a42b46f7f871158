"""The side of MCP that an agent's IDE has: a handshake, a list of tools, and their calls."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from odin_lsp import __version__
from odin_lsp.errors import OdinError
from odin_lsp.json_rpc import INVALID_PARAMS, Answer, Refused
from odin_lsp.values import is_object

Arguments = Mapping[str, Any]
Content = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Tool:
    description: str
    call: Callable[[Arguments], Awaitable[Content]]
    required: tuple[str, ...] = ()
    """Arguments, which are texts."""
    optional: Mapping[str, str] = field(default_factory=dict[str, str])
    """Types of others, by their names."""

    @property
    def schema(self) -> dict[str, Any]:
        types = {**dict.fromkeys(self.required, "string"), **self.optional}
        return {
            "type": "object",
            "properties": {name: {"type": kind} for name, kind in types.items()},
            "required": list(self.required),
        }


def methods(tools: Mapping[str, Tool], versions: Sequence[str]) -> Mapping[str, Answer]:
    """What the agent may ask; of the versions the newest is first."""

    async def initialize(params: Any) -> Any:
        wanted = params.get("protocolVersion") if is_object(params) else None
        return {
            "protocolVersion": wanted if wanted in versions else versions[0],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "odin", "title": "Odin", "version": __version__},
        }

    async def ping(_: Any) -> Any:
        return {}

    async def listed(_: Any) -> Any:
        found = tools.items()
        return {"tools": [{"name": n, "description": it.description, "inputSchema": it.schema} for n, it in found]}

    async def call(params: Any) -> Any:
        match params:
            case {"name": str(name)} if name in tools:
                given: object = params.get("arguments") or {}
            case _:
                raise Refused(INVALID_PARAMS, f"there is no such tool; there are {', '.join(tools)}")
        missing = [it for it in tools[name].required if not is_object(given) or not _is_text(given.get(it))]
        if missing or not is_object(given):
            raise Refused(INVALID_PARAMS, f"{name} needs the texts {', '.join(tools[name].required)}")
        try:
            return {"content": await tools[name].call(given)}
        except OdinError as error:
            return {"content": texts(str(error)), "isError": True}

    return {"initialize": initialize, "ping": ping, "tools/list": listed, "tools/call": call}


def texts(*parts: str) -> Content:
    return [{"type": "text", "text": part} for part in parts]


def as_text(value: object) -> Content:
    """JSON, as a text."""
    return texts(json.dumps(value))


def _is_text(value: object) -> bool:
    """One that can be written to a file."""
    if not isinstance(value, str):
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
