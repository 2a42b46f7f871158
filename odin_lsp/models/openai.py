"""OpenAI by its Responses API, and compatible servers by Chat Completions."""

import os
from urllib.parse import urlsplit

from odin_lsp.models.base import Connection, Model
from odin_lsp.models.key import Key, PlainKey, find_key
from odin_lsp.models.line import OWN_HEADERS, Line, address, custom_headers, named_headers
from odin_lsp.models.openai_chat import ChatModel
from odin_lsp.models.openai_faults import TOO_LONG, refusal
from odin_lsp.models.openai_responses import PATH, ResponsesModel
from odin_lsp.models.reference import ModelRef
from odin_lsp.models.senders import DirectSender
from odin_lsp.models.service import Service, http_client


def connect(ref: ModelRef, connection: Connection) -> Model:
    key = _key(connection)
    service = Service(
        provider="OpenAI",
        ref=ref,
        key=key,
        key_place=connection.key_place or "OPENAI_API_KEY",
        base_variable="OPENAI_BASE_URL",
        usual="https://api.openai.com/v1",
        too_long=TOO_LONG,
    )
    where = address(service)
    more = {
        **named_headers({"openai-organization": "OPENAI_ORG_ID", "openai-project": "OPENAI_PROJECT_ID"}),
        **custom_headers("OPENAI_CUSTOM_HEADERS"),
    }

    def headers(key: str) -> dict[str, str]:
        return {**OWN_HEADERS, "authorization": f"Bearer {key}", **more}

    sender = DirectSender(http_client(connection.network), where.removesuffix(PATH), key, headers)
    line = Line(service, sender, refusal)
    # OpenAI itself speaks responses. Of other servers the address says so, if it ends like that.
    if where.endswith(PATH) or f".{urlsplit(where).hostname}".endswith(".api.openai.com"):
        return ResponsesModel(line)
    return ChatModel(line)


def _key(connection: Connection) -> Key:
    """A server of one's own wants no key, but many want to see one."""
    has_key = connection.helper or connection.key or os.environ.get("OPENAI_API_KEY")
    if os.environ.get("OPENAI_BASE_URL") and not has_key:
        return PlainKey("no-key-needed")
    return find_key("OpenAI", connection, "OPENAI_API_KEY")
