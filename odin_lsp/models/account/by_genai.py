"""What the SDK `google-genai` says of an account, at Google and on Vertex AI."""

from typing import Any

import httpx2
from google import genai
from google.auth.exceptions import GoogleAuthError
from google.genai import types
from google.genai.errors import APIError

from odin_lsp.models.account.by_anthropic import connection_of
from odin_lsp.models.account.questions import AccountModel, Answered, Question
from odin_lsp.models.platforms.bounded import BoundedClient
from odin_lsp.models.platforms.by_genai import OVERRIDDEN, client_of
from odin_lsp.models.platforms.known import PLATFORMS
from odin_lsp.models.platforms.vertex import identity
from odin_lsp.models.service import http_client

MAX_MODELS = 500


async def answer(question: Question) -> Answered:
    connection = connection_of(question)
    options = types.HttpOptions(httpx_async_client=http_client(connection.network, BoundedClient))
    try:
        if question.provider == "google":
            client = genai.Client(vertexai=False, api_key=question.key, http_options=options)
        else:
            client = client_of(identity(connection), options)
        return await _ask(client, question)
    except APIError as error:
        is_refused = error.code == 401 or "API_KEY_INVALID" in str(error)
        return Answered(problem=error.message or f"status {error.code}", kind="refused" if is_refused else "unknown")
    except httpx2.HTTPError as error:
        return Answered(problem=str(error) or type(error).__name__, kind="unreachable")
    except (GoogleAuthError, ValueError) as error:
        advice = PLATFORMS["vertex"].sign_in
        return Answered(problem=f"there are no credentials for Google Vertex AI ({error}); {advice}", kind="refused")


async def _ask(client: genai.Client, question: Question) -> Answered:
    match question.what:
        case "list":
            return Answered(models=await _list(client))
        case "check" if question.provider == "google":
            await client.aio.models.list(config=types.ListModelsConfig(page_size=1))
            return Answered()
        case _:
            return Answered(tokens=await _count(client, question))


async def _list(client: genai.Client) -> tuple[AccountModel, ...]:
    found: list[AccountModel] = []
    async for it in await client.aio.models.list(config=types.ListModelsConfig(page_size=100)):
        if it.name and "generateContent" in (it.supported_actions or ()):
            name = it.name.removeprefix("models/")
            found.append(
                AccountModel(
                    f"google/{name}", it.display_name or "", it.input_token_limit or 0, it.output_token_limit or 0
                )
            )
        if len(found) == MAX_MODELS:
            break
    return tuple(found)


async def _count(client: genai.Client, question: Question) -> int:
    """The Gemini API takes the whole request in a field of its own, and ignores the conversation beside it."""
    body: dict[str, Any] = question.body
    if question.provider == "google" and body:
        body = {"generateContentRequest": {"model": f"models/{question.model}", **body}}
    config = types.CountTokensConfig(http_options=types.HttpOptions(extra_body=body)) if body else None
    counted = await client.aio.models.count_tokens(model=question.model, contents=OVERRIDDEN, config=config)
    return counted.total_tokens or 0
