"""Claude and Gemini on Vertex AI, with application default credentials; Gemini also with a key of Vertex AI's."""

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from odin_lsp.models import anthropic, google
from odin_lsp.models.base import Connection, Model
from odin_lsp.models.key import PlainKey
from odin_lsp.models.line import Line
from odin_lsp.models.platforms.known import EXPRESS_KEY, PLATFORMS
from odin_lsp.models.platforms.service import PlatformService
from odin_lsp.models.reference import ModelRef

if TYPE_CHECKING:
    from odin_lsp.models.platforms.by_anthropic import AnthropicSender

PROJECTS = ("ANTHROPIC_VERTEX_PROJECT_ID", "GOOGLE_CLOUD_PROJECT")
REGIONS = ("CLOUD_ML_REGION", "GOOGLE_CLOUD_LOCATION")


@dataclass(frozen=True, slots=True)
class Identity:
    """As whom and where Google's SDK asks."""

    project: str | None = None
    """None: as the credentials say."""
    location: str | None = None
    key: str | None = None


def connect(ref: ModelRef, connection: Connection) -> Model:
    if ref.name.startswith("gemini"):
        from odin_lsp.models.platforms.by_genai import GenaiSender

        whose = identity(connection)
        service = _service(ref, whose.location or "global", "GOOGLE_VERTEX_BASE_URL", google.TOO_LONG, whose.key or "")
        return google.GoogleModel(Line(service, GenaiSender(service, whose, connection.network), google.fault))
    found = sender(ref, connection)
    return anthropic.AnthropicModel(Line(found.service, found, anthropic.fault))


def identity(connection: Connection) -> Identity:
    """A key goes before all else, and has no place."""
    if key := os.environ.get(EXPRESS_KEY, "").strip():
        return Identity(key=key)
    return Identity(*place(connection))


def place(connection: Connection) -> tuple[str | None, str]:
    """The project, if it is not left to the credentials, and the location."""
    settings = connection.platforms.vertex
    project = settings.project or next(filter(None, map(os.environ.get, PROJECTS)), None)
    region = settings.region or next(filter(None, map(os.environ.get, REGIONS)), "global")
    return project, region


def sender(ref: ModelRef, connection: Connection) -> "AnthropicSender":
    """For Claude."""
    from anthropic import not_given
    from anthropic.lib.vertex import AsyncAnthropicVertex
    from google.auth.exceptions import GoogleAuthError

    from odin_lsp.models.platforms.by_anthropic import AnthropicSender, client_arguments

    project, region = place(connection)

    def client() -> AsyncAnthropicVertex:
        return AsyncAnthropicVertex(region=region, project_id=project or not_given, **client_arguments(connection))

    service = _service(ref, region, "ANTHROPIC_VERTEX_BASE_URL", anthropic.TOO_LONG)
    return AnthropicSender(service, client, faults=(GoogleAuthError,))


def _service(
    ref: ModelRef, region: str, base_variable: str, too_long: re.Pattern[str], key: str = ""
) -> PlatformService:
    host = "aiplatform.googleapis.com" if region == "global" else f"{region}-aiplatform.googleapis.com"
    return PlatformService(
        provider=PLATFORMS["vertex"].title,
        ref=ref,
        key=PlainKey(key),
        key_place=EXPRESS_KEY,
        base_variable=base_variable,
        usual=f"https://{host}",
        too_long=too_long,
        region=region,
    )
