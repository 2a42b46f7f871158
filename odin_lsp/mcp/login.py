"""A login at a server, by a person in a browser: the SDK's flow, and where it may lead."""

import asyncio
import re
from collections.abc import Callable, Sequence

import httpx2
from mcp.client.auth import OAuthClientProvider
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull
from pydantic import AnyUrl, BaseModel

from odin_lsp.errors import ToolError
from odin_lsp.extensions.mcp_files import McpServer
from odin_lsp.mcp import asking, logins
from odin_lsp.mcp.auth import NOT_SECURE, Storage, client_metadata
from odin_lsp.mcp.callback import listening
from odin_lsp.mcp.connection import Around, Connection, filled, has_own_login
from odin_lsp.mcp.elsewhere import Elsewhere, is_secure
from odin_lsp.mcp.logins import Login
from odin_lsp.mcp.values import Asked, Definition, Form, Host, Visit

LOGIN_SECONDS = 300.0
START_SECONDS = 60.0
"""For what the server has to answer besides."""
_REASON = re.compile(r"[a-z_]{1,40}")


async def log_in(
    server: McpServer, around: Around, show: Callable[[str], object], seconds: float = LOGIN_SECONDS
) -> int:
    """How many tools it has then. `show` gets the address that the person has to open. Raises `ToolError`."""
    url = _address(server, around)
    async with listening(server.oauth.callback_port) as callback:
        elsewhere, storage = Elsewhere(url, around.network), Storage()
        storage.client = _client(server, around, callback.url)

        async def visit(address: str) -> None:
            await elsewhere.check(httpx2.URL(address))
            callback.expect(address)
            await asyncio.to_thread(show, address)

        async def answer() -> AuthorizationCodeResult:
            said = await callback.answer(seconds)
            if "code" not in said:
                reason = _REASON.fullmatch(said.get("error", ""))
                raise ToolError(f"{server.name} has refused the login{f' ({reason[0]})' if reason else ''}")
            return AuthorizationCodeResult(code=said["code"], state=said.get("state"), iss=said.get("iss"))

        provider = OAuthClientProvider(url, client_metadata(callback.url), storage, visit, answer)
        tools = await _tools(server, around, provider, seconds + START_SECONDS)
    if storage.tokens is None:
        raise ToolError(f"{server.name} wants no login; it can be used without")
    context = provider.context
    login = Login(
        url=url,
        client=_stored(storage.client) or {},
        tokens=_stored(storage.tokens) or {},
        expires=context.token_expiry_time,
        issuer=_stored(context.oauth_metadata),
        resource=_stored(context.protected_resource_metadata),
    )
    await asyncio.to_thread(logins.keep, server.login_holder, login)
    return tools


def _address(server: McpServer, around: Around) -> str:
    if server.transport == "stdio":
        raise ToolError(f"{server.name} is a program on this machine; it has no login of this kind")
    if has_own_login(server):
        raise ToolError(f"{server.name} has an `Authorization` header in its entry; remove it to log in")
    url = filled(server, around, server.url)
    if not is_secure(httpx2.URL(url)):
        raise ToolError(NOT_SECURE.format(server.name))
    return url


def _client(server: McpServer, around: Around, callback: str) -> OAuthClientInformationFull | None:
    if not server.oauth.id:
        return None
    secret = filled(server, around, server.oauth.secret)
    return OAuthClientInformationFull(
        client_id=filled(server, around, server.oauth.id),
        client_secret=secret or None,
        redirect_uris=[AnyUrl(callback)],
        token_endpoint_auth_method="client_secret_post" if secret else "none",
    )


async def _tools(server: McpServer, around: Around, login: OAuthClientProvider, seconds: float) -> int:
    """A server says that it wants a login when it is used."""
    found: list[Definition] = []

    async def listed(definitions: Sequence[Definition], _has_resources: bool) -> None:
        found[:] = definitions

    host = Host(_decline, lambda: around.roots, lambda _: None)
    connection = Connection(server, around, host, listed, lambda _: None, login)
    try:
        await connection.start(seconds)
    finally:
        await connection.end()
    return len(found)


async def _decline(_: Form | Visit) -> Asked:
    return asking.DECLINED


def _stored(it: BaseModel | None) -> dict[str, object] | None:
    return it.model_dump(mode="json", exclude_none=True) if it is not None else None
