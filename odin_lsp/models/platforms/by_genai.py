"""The SDK `google-genai` as the sender: for Gemini on Vertex AI.

It has no verb for a body that is ready. So the body goes as `extra_body`, over a conversation that the SDK wants; and
what comes back is handed over before the SDK reads it, which sees an answer without events."""

import asyncio
import json
from contextvars import ContextVar
from typing import Any

import httpx2
from google import genai
from google.auth.exceptions import GoogleAuthError, TransportError
from google.genai import types

from odin_lsp.models.base import Network
from odin_lsp.models.platforms.service import PlatformService
from odin_lsp.models.platforms.vertex import Identity
from odin_lsp.models.service import http_client

OVERRIDDEN = "-"
_answer: ContextVar[list[httpx2.Response]] = ContextVar("answer")
"""Of the request that is being sent in this task."""


class GenaiSender:
    def __init__(self, service: PlatformService, identity: Identity, network: Network) -> None:
        self._service = service
        self._identity = identity
        self._network = network
        self._http = http_client(network, _HandingClient)
        self._client: genai.Client | None = None

    async def post(self, path: str, body: bytes) -> httpx2.Response:
        """The path is the SDK's to know."""
        answers: list[httpx2.Response] = []
        token = _answer.set(answers)
        try:
            self._client = self._client or await asyncio.to_thread(self._connect)
            events = await self._client.aio.models.generate_content_stream(
                model=self._service.model, contents=OVERRIDDEN, config=_config(json.loads(body))
            )
            async for _ in events:
                pass
        except TransportError as error:
            raise httpx2.ConnectError(str(error)) from error
        except (GoogleAuthError, ValueError) as error:
            raise self._service.without_credentials(error) from error
        finally:
            _answer.reset(token)
        return answers[-1]

    async def renew(self, refused: httpx2.Response) -> bool:
        """A key of Vertex AI's stays what it is."""
        self._client = None
        return not self._identity.key

    async def aclose(self) -> None:
        await self._http.aclose()

    def _connect(self) -> genai.Client:
        options = types.HttpOptions(timeout=int(self._network.timeout * 1000), httpx_async_client=self._http)
        return client_of(self._identity, options)


def client_of(identity: Identity, options: types.HttpOptions) -> genai.Client:
    return genai.Client(
        vertexai=True,
        api_key=identity.key,
        project=identity.project,
        location=identity.location,
        http_options=options,
    )


class _HandingClient(httpx2.AsyncClient):
    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        _answer.get().append(await super().send(request, **options))
        return httpx2.Response(200, request=request, headers={"content-type": "text/event-stream"})


def _config(body: dict[str, Any]) -> types.GenerateContentConfig:
    return types.GenerateContentConfig(
        http_options=types.HttpOptions(extra_body=body),
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    )
