"""The official SDK, and the only place that knows how to use it: a session in, plain values out."""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from types import TracebackType
from typing import Any, TypeVar, cast

from anyio import ClosedResourceError
from mcp import Client
from mcp.client import ClientRequestContext, IncomingMessage, Transport
from mcp.client.auth import OAuthFlowError, OAuthRegistrationError, OAuthTokenError
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from mcp_types import (
    CONNECTION_CLOSED,
    AudioContent,
    BlobResourceContents,
    ContentBlock,
    ElicitRequestFormParams,
    ElicitRequestParams,
    ElicitResult,
    EmbeddedResource,
    ImageContent,
    Implementation,
    JSONRPCResponse,
    ListRootsResult,
    PromptListChangedNotification,
    ResourceLink,
    ResourceListChangedNotification,
    Root,
    TextContent,
    TextResourceContents,
    ToolListChangedNotification,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from odin_lsp import __version__
from odin_lsp.errors import ToolError
from odin_lsp.mcp.values import Answered, Argument, Definition, Form, Host, Progress, PromptDefinition, Resource, Visit
from odin_lsp.messages import Image
from odin_lsp.values import is_list, is_object

T = TypeVar("T")
MAX_PAGES = 50
MAX_ITEMS = 1000
"""Of one kind; what a server lists beyond is not looked at."""
LONGEST_REASON = 500
CLOSE_SECONDS = 2.0
_WORDS = re.compile(r"[A-Za-z ]+(?![\w/.]|:/)")
CLOSED = CONNECTION_CLOSED, "Connection closed"
"""As the SDK says it; servers have other uses for the code."""


class SdkSession:
    """In a task of its own: the scopes of the SDK have to be left where they were entered."""

    def __init__(self, name: str, transport: Transport, host: Host) -> None:
        self._name = name
        self._host = host
        self._client = Client(
            _without_output_schemas(transport),
            client_info=Implementation(name="Odin", version=__version__),
            elicitation_callback=self._elicit,
            list_roots_callback=self._list_roots,
            message_handler=self._hear,
            cache=None,
        )
        self._opened = asyncio.Event()
        self._closing = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    async def open(self, timeout: float) -> None:
        """Until it has said what it can do. Raises `ToolError`."""
        living, opened = asyncio.create_task(self._live()), asyncio.create_task(self._opened.wait())
        self._tasks.append(living)
        try:
            await asyncio.wait((living, opened), timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        finally:
            opened.cancel()
        if living.done() and (error := living.exception()) is not None:
            raise ToolError(self._reason(error))
        if not self._opened.is_set():
            raise ToolError(f"{self._name} has not answered in {timeout:.3g} s")
        if self.version in MODERN_PROTOCOL_VERSIONS and any(self._tells_of_changes):
            self._tasks.append(asyncio.create_task(self._listen()))

    async def close(self) -> None:
        self._closing.set()
        if not self._tasks:
            return
        for task in self._tasks[1:]:
            task.cancel()
        await asyncio.wait(self._tasks, timeout=CLOSE_SECONDS)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def version(self) -> str:
        """Of the protocol, as both have agreed on it."""
        return self._client.protocol_version

    async def tools(self, timeout: float) -> list[Definition]:
        """In the order of the server. Raises `ToolError`."""
        if self._client.server_capabilities.tools is None:
            return []
        found = await self._pages(
            lambda cursor: self._client.list_tools(cursor=cursor), lambda page: page.tools, "tools", timeout
        )
        return [Definition(it.name, it.description or it.title or "", it.input_schema) for it in found]

    async def prompts(self, timeout: float) -> list[PromptDefinition]:
        if self._client.server_capabilities.prompts is None:
            return []
        found = await self._pages(
            lambda cursor: self._client.list_prompts(cursor=cursor), lambda page: page.prompts, "prompts", timeout
        )
        return [
            PromptDefinition(
                it.name,
                it.description or it.title or "",
                tuple(Argument(arg.name, arg.description or "", bool(arg.required)) for arg in it.arguments or ()),
            )
            for it in found
        ]

    async def resources(self, timeout: float) -> list[Resource]:
        """Those that it lists, then templates of others."""
        if self._client.server_capabilities.resources is None:
            return []
        listed = await self._pages(
            lambda cursor: self._client.list_resources(cursor=cursor), lambda page: page.resources, "resources", timeout
        )
        templates: list[Any] = []
        with suppress(ToolError):  # most servers have none, and many of them refuse the question
            templates = await self._pages(
                lambda cursor: self._client.list_resource_templates(cursor=cursor),
                lambda page: page.resource_templates,
                "templates of resources",
                timeout,
            )
        return [
            *(Resource(str(it.uri), it.name, it.description or "", it.mime_type or "") for it in listed),
            *(Resource(it.uri_template, it.name, it.description or "", it.mime_type or "") for it in templates),
        ]

    async def call(self, tool: str, arguments: dict[str, Any], timeout: float, tell: Progress) -> Answered:
        async def told(progress: float, total: float | None, message: str | None) -> None:
            of = f"{progress:g} of {total:g}" if total else f"{progress:g}"
            tell(f"{message} ({of})" if message else of)

        calling = self._client.call_tool(tool, arguments, progress_callback=told)
        result = await self._within(timeout, calling, f"the call of {tool}")
        text, images = _contents(result.content)
        if not text and result.structured_content is not None:
            text = json.dumps(result.structured_content, ensure_ascii=False, indent=1)
        return Answered(text, images, failed=bool(result.is_error))

    async def prompt(self, name: str, arguments: dict[str, str], timeout: float) -> Answered:
        result = await self._within(timeout, self._client.get_prompt(name, arguments), f"the prompt {name}")
        text, images = _contents([it.content for it in result.messages])
        return Answered(text, images)

    async def read(self, uri: str, timeout: float) -> Answered:
        result = await self._within(timeout, self._client.read_resource(uri), f"the resource {uri}")
        text, images = _contents([EmbeddedResource(type="resource", resource=it) for it in result.contents])
        return Answered(text, images)

    async def _live(self) -> None:
        async with self._client:
            self._opened.set()
            await self._closing.wait()

    async def _listen(self) -> None:
        """In the newer protocol a client has to ask for what the older one sends unasked."""
        tools, resources = self._tells_of_changes
        async with self._client.listen(tools_list_changed=tools, resources_list_changed=resources) as events:
            async for _ in events:
                self._host.changed("tools")  # who looks for tools looks for resources, too

    @property
    def _tells_of_changes(self) -> tuple[bool, bool]:
        """Of its tools, and of its resources."""
        has = self._client.server_capabilities
        return bool(has.tools and has.tools.list_changed), bool(has.resources and has.resources.list_changed)

    async def _pages(
        self,
        fetch: Callable[[str | None], Awaitable[Any]],
        items: Callable[[Any], list[T]],
        what: str,
        timeout: float,
    ) -> list[T]:
        async def all_of_them() -> list[T]:
            found: list[T] = []
            cursor: str | None = None
            for _ in range(MAX_PAGES):
                page = await fetch(cursor)
                found += items(page)
                cursor = page.next_cursor
                if not cursor or len(found) >= MAX_ITEMS:
                    break
            return found[:MAX_ITEMS]

        return await self._within(timeout, all_of_them(), f"the list of {what}")

    async def _within(self, timeout: float, asking: Awaitable[T], what: str) -> T:
        try:
            async with asyncio.timeout(timeout):
                return await asking
        except TimeoutError:
            raise ToolError(f"{self._name} has not answered in {timeout:.3g} s: {what}") from None
        except (MCPError, ValidationError, RuntimeError, ClosedResourceError, OSError) as error:
            raise ToolError(self._reason(error)) from None

    def _reason(self, error: BaseException) -> str:
        while isinstance(error, ExceptionGroup):
            error = cast("ExceptionGroup[Exception]", error).exceptions[0]
        if isinstance(error, MCPError) and (error.code, error.message) == CLOSED:
            return f"{self._name} has ended the connection"
        if isinstance(error, ValidationError):
            return f"{self._name} has answered with something that is no answer"
        if isinstance(error, ToolError):
            return str(error)
        if isinstance(error, OAuthFlowError):
            return f"{self._name}: {_why_no_login(error)}"
        said = str(error).strip() or type(error).__name__
        return f"{self._name} refuses: {said[:LONGEST_REASON]}"

    async def _elicit(self, context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        if isinstance(params, ElicitRequestFormParams):
            schema = params.requested_schema
            wanted, required = schema.get("properties"), schema.get("required")
            asked = Form(
                params.message,
                wanted if is_object(wanted) else {},
                tuple(map(str, required)) if is_list(required) else (),
            )
        else:
            asked = Visit(params.message, params.url)
        action, content = await self._host.ask(asked)
        is_form = action == "accept" and isinstance(asked, Form)
        return ElicitResult(action=action, content=dict(content) if is_form else None)

    async def _list_roots(self, context: ClientRequestContext) -> ListRootsResult:
        roots = self._host.roots()
        return ListRootsResult.model_validate(
            {"roots": [Root.model_validate({"uri": it.as_uri(), "name": it.name}) for it in roots]}
        )

    async def _hear(self, message: IncomingMessage) -> None:
        match message:
            case ToolListChangedNotification():
                self._host.changed("tools")
            case PromptListChangedNotification():
                self._host.changed("prompts")
            case ResourceListChangedNotification():
                self._host.changed("resources")
            case _:
                pass


def _why_no_login(error: OAuthFlowError) -> str:
    """Without what the server has said, which may be a token."""
    match error:
        case OAuthRegistrationError():
            return "it registers no programs; set `oauth.clientId` in its entry to a client that it knows"
        case OAuthTokenError():
            return "it has given no token for the login"
        case _:
            about = _WORDS.match(str(error))
            return f"the login cannot be trusted ({about[0].strip() if about else type(error).__name__})"


def _contents(blocks: list[ContentBlock]) -> tuple[str, tuple[Image, ...]]:
    texts: list[str] = []
    images: list[Image] = []
    for it in blocks:
        match it:
            case TextContent():
                texts.append(it.text)
            case ImageContent():
                images.append(Image(it.mime_type, it.data))
            case AudioContent():
                texts.append(f"(sound was left out: {it.mime_type})")
            case ResourceLink():
                texts.append(f"resource: {it.uri}{f' ({it.name})' if it.name else ''}")
            case EmbeddedResource(resource=BlobResourceContents(mime_type=str(kind)) as blob) if _is_image(kind):
                images.append(Image(kind, blob.blob))
            case EmbeddedResource():
                texts.append(_resource(it.resource))
    return "\n".join(texts), tuple(images)


def _is_image(media_type: str) -> bool:
    return media_type.startswith("image/") and not media_type.startswith("image/svg")


def _resource(it: TextResourceContents | BlobResourceContents) -> str:
    if isinstance(it, TextResourceContents):
        return it.text
    return f"({it.uri} was left out: {len(it.blob) * 3 // 4:,} bytes of {it.mime_type or 'an unknown type'})"


@asynccontextmanager
async def _without_output_schemas(transport: AbstractAsyncContextManager[Any]) -> AsyncGenerator[Any]:
    """The SDK checks results by the schemas that servers give for them, with patterns that could take forever."""
    async with transport as (read, write):
        yield _Sifted(read), write


class _Sifted:
    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    async def receive(self) -> SessionMessage | Exception:
        return _sifted(await self._stream.receive())

    def __aiter__(self) -> "_Sifted":
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        return _sifted(await self._stream.__anext__())

    async def __aenter__(self) -> "_Sifted":
        await self._stream.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._stream.__aexit__(kind, error, trace)


def _sifted(item: SessionMessage | Exception) -> SessionMessage | Exception:
    message = item.message if isinstance(item, SessionMessage) else None
    if isinstance(message, JSONRPCResponse) and is_list(tools := message.result.get("tools")):
        for tool in filter(is_object, tools):
            tool.pop("outputSchema", None)
    return item
