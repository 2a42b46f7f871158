"""OpenAI by its Responses API, and compatible servers by Chat Completions."""

import os

import httpx2
import openai

from odin_lsp.models.base import Connection, Model
from odin_lsp.models.openai_chat import ChatModel
from odin_lsp.models.openai_responses import PATH, ResponsesModel
from odin_lsp.models.openai_sdk import TOO_LONG
from odin_lsp.models.reference import ModelRef
from odin_lsp.models.service import Service, find_key, http_client

USUAL = "https://api.openai.com/v1"


def connect(ref: ModelRef, connection: Connection) -> Model:
    key = _key(connection)
    service = Service(
        provider="OpenAI",
        ref=ref,
        key=key,
        key_place=connection.key_place or "OPENAI_API_KEY",
        base_variable="OPENAI_BASE_URL",
        usual_host="api.openai.com",
        too_long=TOO_LONG,
    )
    address = (os.environ.get("OPENAI_BASE_URL") or USUAL).rstrip("/")
    client = _sdk(address.removesuffix(PATH), service, http_client(connection.network))
    # OpenAI itself speaks responses. Of other servers the address says so, if it ends like that.
    if address.endswith(PATH) or f".{client.base_url.host}".endswith(".api.openai.com"):
        return ResponsesModel(service, client)
    return ChatModel(service, client)


def connect_to(url: str, service: Service, client: httpx2.AsyncClient) -> Model:
    """A server that speaks chat completions."""
    return ChatModel(service, _sdk(url, service, client))


def _sdk(url: str, service: Service, client: httpx2.AsyncClient) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(
        api_key=service.key, base_url=url, timeout=client.timeout, max_retries=0, http_client=client
    )


def _key(connection: Connection) -> str:
    """A server of one's own wants no key, but the SDK does."""
    has_key = connection.key or os.environ.get("OPENAI_API_KEY")
    if os.environ.get("OPENAI_BASE_URL") and not has_key:
        return "no-key-needed"
    return find_key("OpenAI", connection, "OPENAI_API_KEY")
