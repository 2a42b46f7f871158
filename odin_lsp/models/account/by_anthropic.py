"""What the SDK `anthropic` says of an account, at Anthropic and on the platforms that have Claude."""

from importlib import import_module
from typing import Any, Protocol, cast

from anthropic import AnthropicError, APIConnectionError, APIStatusError, AsyncAnthropic

from odin_lsp.config.schema import PlatformSettings
from odin_lsp.models.account.questions import AccountModel, Answered, Question
from odin_lsp.models.base import Connection, Network
from odin_lsp.models.platforms import bedrock
from odin_lsp.models.platforms.by_anthropic import AnthropicSender, Client, client_arguments
from odin_lsp.models.platforms.known import PLATFORMS
from odin_lsp.models.reference import ModelRef

MAX_MODELS = 500
COUNTED = ("model", "messages", "system", "tools", "tool_choice", "thinking", "output_config")
"""What of a request has tokens, or says how they are counted."""
SECONDS = 20.0


class OnPlatform(Protocol):
    def sender(self, ref: ModelRef, connection: Connection) -> AnthropicSender: ...


def connection_of(question: Question) -> Connection:
    network = Network(**question.network, timeout=SECONDS)
    return Connection(question.key or None, network, platforms=PlatformSettings.model_validate(question.platforms))


async def answer(question: Question) -> Answered:
    connection = connection_of(question)
    if question.provider not in PLATFORMS:
        return await _ask(AsyncAnthropic(api_key=question.key, **client_arguments(connection)), question, "Anthropic")
    module = cast("OnPlatform", import_module(f"odin_lsp.models.platforms.{question.provider}"))
    sender = module.sender(ModelRef(question.provider, question.model), connection)
    if question.what == "check" and question.provider == "bedrock":
        bedrock.check_credentials(connection)
        return Answered()
    try:
        return await _ask(sender.client, question, sender.service.provider)
    except sender.faults as error:
        raise sender.service.without_credentials(error) from error


async def _ask(client: AsyncAnthropic | Client, question: Question, name: str) -> Answered:
    try:
        match question.what:
            case "list" if type(client) is AsyncAnthropic:
                return Answered(models=await _list(client))
            case "check" if type(client) is AsyncAnthropic:
                await client.models.list(limit=1)
                return Answered()
            case "list":
                return Answered(problem=f"{name} does not list its models", kind="unknown")
            case "check" | "count":
                return Answered(tokens=await _count(client, question))
    except APIStatusError as error:
        said = _message(error.body) or f"status {error.status_code}"
        return Answered(problem=said, kind="refused" if error.status_code == 401 else "unknown")
    except APIConnectionError as error:
        return Answered(problem=str(error.__cause__ or error), kind="unreachable")
    except AnthropicError as error:
        if "not supported" not in str(error):
            raise
        return Answered(problem=f"{name} does not count tokens", kind="unknown")


async def _list(client: AsyncAnthropic) -> tuple[AccountModel, ...]:
    found: list[AccountModel] = []
    async for it in client.models.list(limit=100):
        if it.lifecycle != "retired":
            found.append(
                AccountModel(f"anthropic/{it.id}", it.display_name, it.max_input_tokens or 0, it.max_tokens or 0)
            )
        if len(found) == MAX_MODELS:
            break
    return tuple(found)


async def _count(client: AsyncAnthropic | Client, question: Question) -> int:
    asked: dict[str, Any] = {name: question.body[name] for name in COUNTED if name in question.body}
    asked = asked or {"model": question.model, "messages": [{"role": "user", "content": "hello"}]}
    return (await client.messages.count_tokens(**asked)).input_tokens


def _message(body: Any) -> str:
    match body:
        case {"error": {"message": str(said)}} | {"message": str(said)}:
            return said
        case _:
            return ""
