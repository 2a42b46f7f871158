"""Claude on Microsoft Foundry, with a key of the resource, or a token of Entra ID's."""

import importlib.util
import os
from typing import Any

from anthropic import AsyncAnthropicFoundry

from odin_lsp.errors import KeyRejected, ModelError
from odin_lsp.models.anthropic import TOO_LONG, AnthropicModel, fault
from odin_lsp.models.base import Connection, Model
from odin_lsp.models.key import PlainKey
from odin_lsp.models.line import Line
from odin_lsp.models.platforms.by_anthropic import AnthropicSender, client_arguments
from odin_lsp.models.platforms.known import PLATFORMS
from odin_lsp.models.platforms.service import PlatformService
from odin_lsp.models.reference import ModelRef

SCOPE = "https://ai.azure.com/.default"


def connect(ref: ModelRef, connection: Connection) -> Model:
    found = sender(ref, connection)
    return AnthropicModel(Line(found.service, found, fault))


def sender(ref: ModelRef, connection: Connection) -> AnthropicSender:
    address = _address(connection)
    service = PlatformService(
        provider=PLATFORMS["foundry"].title,
        ref=ref,
        key=PlainKey(os.environ.get("ANTHROPIC_FOUNDRY_API_KEY", "")),
        key_place="ANTHROPIC_FOUNDRY_API_KEY",
        base_variable="ANTHROPIC_FOUNDRY_BASE_URL",
        usual=address,
        too_long=TOO_LONG,
        region="this resource",
    )

    def client() -> AsyncAnthropicFoundry:
        return AsyncAnthropicFoundry(base_url=address, **_credentials(), **client_arguments(connection))

    return AnthropicSender(service, client)


def _address(connection: Connection) -> str:
    resource = connection.platforms.foundry.resource or os.environ.get("ANTHROPIC_FOUNDRY_RESOURCE")
    if connection.platforms.foundry.resource or not os.environ.get("ANTHROPIC_FOUNDRY_BASE_URL"):
        if not resource:
            raise ModelError(
                "no resource of Microsoft Foundry is set; set ANTHROPIC_FOUNDRY_RESOURCE, or"
                " `platforms.foundry.resource` in your settings"
            )
        return f"https://{resource}.services.ai.azure.com/anthropic/"
    return os.environ["ANTHROPIC_FOUNDRY_BASE_URL"]


def _credentials() -> dict[str, Any]:
    if key := os.environ.get("ANTHROPIC_FOUNDRY_API_KEY"):
        return {"api_key": key}
    if importlib.util.find_spec("azure") is None or importlib.util.find_spec("azure.identity") is None:
        raise KeyRejected(f"there are no credentials for Microsoft Foundry; {PLATFORMS['foundry'].sign_in}")
    identity: Any = importlib.import_module("azure.identity")
    return {"azure_ad_token_provider": identity.get_bearer_token_provider(identity.DefaultAzureCredential(), SCOPE)}
