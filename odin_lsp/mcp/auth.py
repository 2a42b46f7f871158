"""The login of a server, in a turn: its token goes along and is renewed. No browser is opened: that is `login.py`."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from typing import Literal

import httpx2
from mcp.client.auth import OAuthClientProvider
from mcp.client.auth.utils import extract_field_from_www_auth
from mcp.shared.auth import (
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)
from pydantic import AnyUrl, ValidationError

from odin_lsp.errors import ToolError
from odin_lsp.mcp import logins
from odin_lsp.mcp.elsewhere import is_secure
from odin_lsp.mcp.logins import Login
from odin_lsp.redaction import HIDDEN, MIN_SECRET_CHARS

UNAUTHORIZED, FORBIDDEN = 401, 403
PUBLIC: Literal["none"] = "none"
"""A program that anybody can read keeps no secret of its own."""
NOT_NOW = 429, 500, 502, 503, 504
NOT_SECURE = "{} wants a login, which is not sent without encryption; its address must begin with https://"
logging.getLogger("mcp.client.auth").setLevel(logging.CRITICAL + 1)  # it logs answers, which may have tokens in them


class Storage:
    """What the SDK wants to keep things in."""

    def __init__(self, renewed: Callable[[OAuthToken], Awaitable[None]] | None = None) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None
        self._renewed = renewed

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens
        if self._renewed is not None:
            await self._renewed(tokens)

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


def client_metadata(callback: str) -> OAuthClientMetadata:
    return OAuthClientMetadata(client_name="Odin", redirect_uris=[AnyUrl(callback)], token_endpoint_auth_method=PUBLIC)


class Tokens(OAuthClientProvider):
    """Those that were given for a server at an address, for that address only."""

    def __init__(self, server: str, holder: str, url: str) -> None:
        """`holder` is whom logins are kept for."""
        super().__init__(url, client_metadata("http://127.0.0.1/callback"), Storage(self._keep))
        self.problem = ""
        """Why the last request could not be made."""
        self._server = server
        self._holder = holder
        self._url = url
        self._is_secure = is_secure(httpx2.URL(url))
        self._login: Login | None = None
        self._known: set[str] = set()

    def hidden(self, text: str) -> str:
        """The text without the tokens: servers may quote them."""
        for token in self._known:
            text = text.replace(token, HIDDEN)
        return text

    async def _auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """The SDK's own would log in anew where a token has only become old, and let requests wait for each other."""
        refused = ""
        while True:
            async with self.context.lock:
                token = self._token
                if not token or token == refused or not self.context.is_token_valid():
                    await self._take_stored()
                    token = self._token
                if token and (token == refused or not self.context.is_token_valid()):
                    if not self.context.can_refresh_token():
                        raise self._failed("its login has ended")
                    response = yield await self._refresh_token()
                    if not await self._handle_refresh_response(response) and not await self._is_renewed_by_another():
                        raise self._failed("its login has ended", response.status_code)
                    token = self._token
                if token:
                    self._add_auth_header(request)
            response = yield request
            if response.status_code != UNAUTHORIZED or not token or refused:
                break
            refused = token
        if response.status_code == UNAUTHORIZED:
            raise self._failed("it refuses its login" if token else "it wants a login")
        if response.status_code == FORBIDDEN and extract_field_from_www_auth(response, "error") == "insufficient_scope":
            raise self._failed("it wants a login with more rights")
        self.problem = ""

    @property
    def _token(self) -> str:
        tokens = self.context.current_tokens
        return tokens.access_token if tokens and self._is_secure else ""

    async def _take_stored(self) -> bool:
        """Whether there is something new: another Odin, or a person, may have been faster."""
        login = await asyncio.to_thread(logins.read, self._holder, self._url)
        if login is None or login == self._login:
            return False
        context = self.context
        try:
            context.current_tokens = OAuthToken.model_validate(login.tokens)
            context.client_info = OAuthClientInformationFull.model_validate(login.client)
            context.oauth_metadata = OAuthMetadata.model_validate(login.issuer) if login.issuer else None
            resource = login.resource
            context.protected_resource_metadata = (
                ProtectedResourceMetadata.model_validate(resource) if resource else None
            )
        except ValidationError:
            context.clear_tokens()
            return False
        context.token_expiry_time = login.expires
        self._login = login
        self._know(context.current_tokens)
        return True

    async def _is_renewed_by_another(self) -> bool:
        return await self._take_stored() and self.context.is_token_valid()

    async def _keep(self, tokens: OAuthToken) -> None:
        """Where nothing can be kept they still work until Odin ends."""
        self._know(tokens)
        if self._login is not None:
            stored = tokens.model_dump(mode="json", exclude_none=True)
            self._login = replace(self._login, tokens=stored, expires=self.context.token_expiry_time)
            with suppress(ToolError):
                await asyncio.to_thread(logins.keep, self._holder, self._login)

    def _know(self, tokens: OAuthToken) -> None:
        told = (tokens.access_token, tokens.refresh_token or "")
        self._known.update(it for it in told if len(it) >= MIN_SECRET_CHARS)

    def _failed(self, why: str, status: int | None = None) -> ToolError:
        self.context.clear_tokens()
        self._login = None
        if not self._is_secure:
            self.problem = NOT_SECURE.format(self._server)
        elif status in NOT_NOW:
            self.problem = f"{self._server}: its login cannot be renewed now ({status}); try again later"
        else:
            self.problem = f"{self._server}: {why}; run `odin-lsp mcp login {self._server}`"
        return ToolError(self.problem)
