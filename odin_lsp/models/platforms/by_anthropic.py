"""The SDK `anthropic` as the sender: for Claude on Bedrock, Vertex and Foundry."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, TypeAlias, cast

import httpx2
from anthropic import (
    AnthropicError,
    APIConnectionError,
    APIStatusError,
    AsyncAnthropicFoundry,
    AsyncStream,
)
from anthropic.lib.bedrock import AsyncAnthropicBedrock
from anthropic.lib.vertex import AsyncAnthropicVertex

from odin_lsp.models.base import Connection
from odin_lsp.models.platforms.bounded import AWS_STREAM, BoundedClient
from odin_lsp.models.platforms.events import as_event, event_stream
from odin_lsp.models.platforms.service import PlatformService
from odin_lsp.models.service import http_client

Client: TypeAlias = AsyncAnthropicBedrock | AsyncAnthropicFoundry | AsyncAnthropicVertex
Events: TypeAlias = AsyncStream[Mapping[str, Any]]
KINDS: Mapping[str, str] = {
    **dict.fromkeys(("throttlingexception", "servicequotaexceededexception"), "rate_limit_error"),
    "validationexception": "invalid_request_error",
    "accessdeniedexception": "permission_error",
    "resourcenotfoundexception": "not_found_error",
    **dict.fromkeys(("internalserverexception", "modelstreamerrorexception", "modelerrorexception"), "api_error"),
    **dict.fromkeys(("serviceunavailableexception", "modelnotreadyexception"), "overloaded_error"),
    "modeltimeoutexception": "timeout_error",
    **dict.fromkeys(
        (
            *("expiredtokenexception", "expiredtoken", "unrecognizedclientexception", "invalidclienttokenid"),
            *("invalidsignatureexception", "signaturedoesnotmatch", "incompletesignatureexception"),
            *("missingauthenticationtokenexception", "missingauthenticationtoken", "invalididentitytoken"),
        ),
        "authentication_error",
    ),
    "unauthenticated": "authentication_error",
}
"""What AWS and Google call an error that Anthropic has another name for."""
NO_MODEL = "model identifier is invalid"
"""What Bedrock says, as of an invalid request, of a model that it does not have in the region."""
CREDENTIAL_FAULTS = (AnthropicError, ImportError, RuntimeError, ValueError)
"""What the SDK raises where it finds none; the platform's own libraries add theirs."""


def client_arguments(connection: Connection) -> dict[str, Any]:
    """`resilience` makes failed requests again, and nobody else."""
    return {
        "http_client": http_client(connection.network, BoundedClient),
        "timeout": connection.network.timeout,
        "max_retries": 0,
    }


class AnthropicSender:
    def __init__(
        self,
        service: PlatformService,
        connect: Callable[[], Client],
        *,
        reconnect: Callable[[], Client] | None = None,
        faults: tuple[type[Exception], ...] = (),
        broken: tuple[type[Exception], ...] = (),
    ) -> None:
        """`reconnect` makes a client if the credentials of the last one do not hold any more; without it `connect`.
        `faults` are those of the platform's own libraries over credentials, `broken` those over an answer."""
        self.service = service
        self._reconnect = reconnect or connect
        self.faults = (*CREDENTIAL_FAULTS, *faults)
        self._broken = broken
        self.client = connect()

    async def post(self, path: str, body: bytes) -> httpx2.Response:
        try:
            events = await self.client.post(
                path, body=json.loads(body), cast_to=cast("type[Any]", object), stream=True, stream_cls=Events
            )
        except APIStatusError as error:
            return _as_anthropics(error.response)
        except APIConnectionError as error:
            raise error.__cause__ if isinstance(error.__cause__, httpx2.HTTPError) else _broken(error) from error
        except self.faults as error:
            raise self.service.without_credentials(error) from error
        response = events.response
        if not response.headers.get("content-type", "").startswith(AWS_STREAM):
            return response
        return event_stream(self._read_by_sdk(events), events.close, response.headers)

    async def renew(self, refused: httpx2.Response) -> bool:
        used = self.client
        try:
            self.client = await asyncio.to_thread(self._reconnect)
        except self.faults as error:
            raise self.service.without_credentials(error) from error
        await used.close()
        return True

    async def aclose(self) -> None:
        await self.client.close()

    async def _read_by_sdk(self, events: Events) -> AsyncIterator[bytes]:
        """The events of AWS' own format. An error among them is an event like others."""
        try:
            async for event in events:
                yield as_event(event)
        except APIStatusError as error:
            kind, said = _error_in(error.body, "")
            yield as_event(_error(kind, said))
        except self._broken as error:
            raise httpx2.DecodingError(str(error)) from error


def _as_anthropics(response: httpx2.Response) -> httpx2.Response:
    """A refusal of the platform itself, in the words of Anthropic's."""
    kind, said = _read_refusal(response)
    if not said:
        return response
    headers = {
        name: value for name, value in response.headers.items() if name.startswith(("retry-after", "request-id"))
    }
    if request := response.headers.get("x-amzn-requestid"):
        headers["request-id"] = request
    return httpx2.Response(404 if NO_MODEL in said else response.status_code, headers=headers, json=_error(kind, said))


def _read_refusal(response: httpx2.Response) -> tuple[str, str]:
    try:
        body = response.json()
    except (ValueError, RecursionError):
        return "", ""
    return _error_in(body, response.headers.get("x-amzn-errortype", "").partition(":")[0])


def _error_in(body: Any, named: str) -> tuple[str, str]:
    """The kind and the words of an error, whoever's they are; `named` is the kind if it is not in the body."""
    match body:
        case [first, *_]:
            return _error_in(first, named)
        case {"error": {"message": str(said), **rest}}:
            kind = next((it for name in ("type", "status", "code") if isinstance(it := rest.get(name), str)), named)
        case {"message": str(said)} | {"Message": str(said)}:
            kind = named
        case _:
            return "", ""
    return ("not_found_error" if NO_MODEL in said else KINDS.get(kind.lower(), kind)), said


def _error(kind: str, said: str) -> Mapping[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": said}}


def _broken(error: APIConnectionError) -> httpx2.HTTPError:
    return httpx2.ConnectError(str(error))
