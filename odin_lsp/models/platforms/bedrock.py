"""Claude on Amazon Bedrock: credentials as all tools for AWS find them, or a bearer token of Bedrock's."""

import importlib.util
import os
from typing import TYPE_CHECKING, Any

from odin_lsp.errors import KeyRejected, ModelError
from odin_lsp.models.anthropic import TOO_LONG, AnthropicModel, fault
from odin_lsp.models.base import Connection, Model
from odin_lsp.models.key import PlainKey
from odin_lsp.models.line import Line
from odin_lsp.models.platforms.known import PLATFORMS
from odin_lsp.models.platforms.service import PlatformService
from odin_lsp.models.reference import ModelRef

if TYPE_CHECKING:
    from odin_lsp.models.platforms.by_anthropic import AnthropicSender

MISSING = "Amazon Bedrock needs boto3; install Odin with the extra bedrock: `pip install 'odin-lsp[bedrock]'`"

REGIONS = ("AWS_REGION", "AWS_DEFAULT_REGION")


def connect(ref: ModelRef, connection: Connection) -> Model:
    found = sender(ref, connection)
    return AnthropicModel(Line(found.service, found, fault))


def sender(ref: ModelRef, connection: Connection) -> "AnthropicSender":
    if not is_installed():
        raise ModelError(MISSING)
    from anthropic.lib.bedrock import AsyncAnthropicBedrock
    from boto3 import Session
    from botocore.eventstream import ParserError
    from botocore.exceptions import BotoCoreError

    from odin_lsp.models.platforms.by_anthropic import AnthropicSender, client_arguments

    settings = connection.platforms.bedrock
    has_token = bool(os.environ.get("AWS_BEARER_TOKEN_BEDROCK"))
    profile = None if has_token else settings.profile
    try:
        whoever: Any = Session(profile_name=profile)
    except BotoCoreError as error:
        raise ModelError(f"the AWS profile cannot be used ({error}); check AWS_PROFILE and ~/.aws/config") from error
    region = settings.region or next(filter(None, map(os.environ.get, REGIONS)), whoever.region_name)
    if not region:
        raise ModelError("no AWS region is set; set AWS_REGION, or `platforms.bedrock.region` in your settings")
    service = PlatformService(
        provider=PLATFORMS["bedrock"].title,
        ref=ref,
        key=PlainKey(""),
        key_place="",
        base_variable="ANTHROPIC_BEDROCK_BASE_URL",
        usual=f"https://bedrock-runtime.{region}.amazonaws.com",
        too_long=TOO_LONG,
        region=region,
    )

    def client() -> AsyncAnthropicBedrock:
        return AsyncAnthropicBedrock(aws_region=region, aws_profile=profile, **client_arguments(connection))

    def renewed() -> AsyncAnthropicBedrock:
        """The SDK reads a file of credentials once in the life of a process. So it is given what is there now."""
        session: Any = Session(profile_name=profile, region_name=region)
        found = None if has_token else session.get_credentials()
        if found is None:
            return client()
        now = found.get_frozen_credentials()
        return AsyncAnthropicBedrock(
            aws_region=region,
            aws_access_key=now.access_key,
            aws_secret_key=now.secret_key,
            aws_session_token=now.token,
            **client_arguments(connection),
        )

    return AnthropicSender(service, client, reconnect=renewed, faults=(BotoCoreError,), broken=(ParserError,))


def check_credentials(connection: Connection) -> None:
    """`KeyRejected` if there are none, or none to be had; whether Bedrock accepts them is known in a turn only."""
    from boto3 import Session
    from botocore.exceptions import BotoCoreError

    if os.environ.get("AWS_BEARER_TOKEN_BEDROCK"):
        return
    found: Any = None
    why = "none were found"
    try:
        session: Any = Session(profile_name=connection.platforms.bedrock.profile)
        found = session.get_credentials()
        if found is not None:
            found.get_frozen_credentials()
    except BotoCoreError as error:
        found, why = None, str(error)
    if found is None:
        platform = PLATFORMS["bedrock"]
        raise KeyRejected(f"there are no credentials for {platform.title} ({why}); {platform.sign_in}")


def is_installed() -> bool:
    return all(map(importlib.util.find_spec, ("boto3", "botocore")))
