"""Model servers on this computer: which there are, and which of them answer. Nobody is asked unless the user wants to
choose a model."""

import asyncio
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from odin_lsp.values import Value

if TYPE_CHECKING:
    import httpx2

SECONDS = 2.0
MAX_BYTES = 1024 * 1024
MAX_MODELS = 100


@dataclass(frozen=True, slots=True)
class LocalServer:
    name: str
    port: int
    variable: str = ""
    """In the environment, where it listens if that is elsewhere."""

    @property
    def url(self) -> str:
        said = re.fullmatch(r"(?:(\w+)://)?([^/:]*)(?::(\d+))?/?", os.environ.get(self.variable, ""))
        scheme, host, port = said.groups() if said else (None, None, None)
        anywhere = host in (None, "", "0.0.0.0")  # noqa: S104 - what a server listens on, not Odin
        return f"{scheme or 'http'}://{'127.0.0.1' if anywhere else host}:{port or self.port}"


SERVERS: Mapping[str, LocalServer] = {
    "ollama": LocalServer("Ollama", 11434, "OLLAMA_HOST"),
    "lmstudio": LocalServer("LM Studio", 1234),
    "llamacpp": LocalServer("llama.cpp", 8080),
    "vllm": LocalServer("vLLM", 8000),
}
"""By provider, as models are named: `ollama/qwen3`."""


@dataclass(frozen=True, slots=True)
class FoundServer(Value):
    """A server that answers, and its models as `odin.model` takes them."""

    name: str
    url: str
    models: tuple[str, ...]


async def find() -> tuple[FoundServer, ...]:
    """Those that answer, with what they have."""
    async with await asyncio.to_thread(_client) as client:
        found = await asyncio.gather(*(_ask(client, provider, server) for provider, server in SERVERS.items()))
    return tuple(it for it in found if it is not None)


def _client() -> "httpx2.AsyncClient":
    """It uses no proxy of the environment, which could not know what is on this computer."""
    import httpx2

    return httpx2.AsyncClient(timeout=SECONDS, trust_env=False)


async def _ask(client: "httpx2.AsyncClient", provider: str, server: LocalServer) -> FoundServer | None:
    import httpx2

    from odin_lsp.models.bodies import TooMuch

    try:
        async with asyncio.timeout(SECONDS):
            listed = _names(await _read(client, f"{server.url}/v1/models"))
    except (httpx2.HTTPError, httpx2.InvalidURL, TimeoutError, TooMuch, ValueError, RecursionError):
        return None
    models = tuple(f"{provider}/{name}" for name in listed if "embed" not in name.lower())
    return FoundServer(server.name, server.url, models[:MAX_MODELS]) if models else None


async def _read(client: "httpx2.AsyncClient", url: str) -> Any:
    """Anything may listen there: it is read up to a size."""
    from odin_lsp.models import bodies

    async with client.stream("GET", url) as response:
        return json.loads(await bodies.whole(response, MAX_BYTES))


def _names(listed: Any) -> list[str]:
    match listed:
        case {"data": [*models]}:
            return [name for it in models if (name := _name(it))]
        case _:
            return []


def _name(model: Any) -> str:
    match model:
        case {"id": str(name)} if name.isprintable() and " " not in name:
            return name
        case _:
            return ""
