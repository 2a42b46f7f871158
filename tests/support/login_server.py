"""An MCP server that wants a login, with the authorization server that gives it: both by the SDK, on this machine.

`answers` has what is said at a path instead, however bad that is."""

import asyncio
import secrets
import socket
import threading
import time
import urllib.error
import urllib.request
from contextlib import contextmanager

import uvicorn
from mcp.server import MCPServer
from mcp.server.auth.provider import AccessToken, AuthorizationCode, RefreshToken, construct_redirect_uri
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from starlette.responses import Response, StreamingResponse

from odin_lsp.extensions.mcp_files import McpServer

METADATA = "/.well-known/oauth-authorization-server"
RESOURCE = "/.well-known/oauth-protected-resource/mcp"


class LoginServer:
    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.origin = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.entry = McpServer(name="toy", transport="http", url=f"{self.origin}/mcp")
        self.giving = Giving()
        self.answers = {}
        self.requests = []
        server = MCPServer(
            "toy",
            auth_server_provider=self.giving,
            auth=AuthSettings(
                issuer_url=self.origin,
                resource_server_url=f"{self.origin}/mcp",
                client_registration_options=ClientRegistrationOptions(enabled=True),
                validate_token_resource=False,
            ),
        )

        @server.tool()
        def add(a: int, b: int) -> str:
            """Add two numbers."""
            return str(a + b)

        self.app = server.streamable_http_app(json_response=True)

    async def __call__(self, scope, receive, send):
        if scope["type"] == "http":
            headers = {name.decode(): value.decode() for name, value in scope["headers"]}
            self.requests.append((scope["path"], headers))
            if (answer := self.answers.get(scope["path"])) is not None:
                await (answer if isinstance(answer, Response) else answer())(scope, receive, send)
                return
        await self.app(scope, receive, send)

    def asked(self, path):
        return [headers for it, headers in self.requests if it == path]

    @contextmanager
    def running(self):
        server = uvicorn.Server(uvicorn.Config(self, log_level="critical", timeout_graceful_shutdown=1))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [self.listener]})
        thread.start()
        try:
            yield self
        finally:
            server.should_exit = True
            thread.join()


class Giving:
    """Gives codes and tokens to whoever asks, and remembers them."""

    def __init__(self):
        self.clients = {}
        self.codes = {}
        self.access = {}
        self.refresh = {}
        self.life = 3600
        self.state = None
        """What is answered instead of the state that was asked with."""

    async def get_client(self, client_id):
        return self.clients.get(client_id)

    async def register_client(self, client_info):
        self.clients[client_info.client_id] = client_info

    def know(self, client_id, callback, secret=None):
        method = "client_secret_post" if secret else "none"
        self.clients[client_id] = OAuthClientInformationFull(
            client_id=client_id, client_secret=secret, redirect_uris=[callback], token_endpoint_auth_method=method
        )

    async def authorize(self, client, params):
        code = secrets.token_urlsafe(32)
        self.codes[code] = AuthorizationCode(
            code=code,
            scopes=[],
            expires_at=time.time() + 60,
            client_id=client.client_id,
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            resource=params.resource,
        )
        return construct_redirect_uri(str(params.redirect_uri), code=code, state=self.state or params.state)

    async def load_authorization_code(self, client, authorization_code):
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(self, client, authorization_code):
        del self.codes[authorization_code.code]
        return self._new(client)

    async def load_refresh_token(self, client, refresh_token):
        return self.refresh.get(refresh_token)

    async def exchange_refresh_token(self, client, refresh_token, scopes):
        del self.refresh[refresh_token.token]
        return self._new(client)

    async def load_access_token(self, token):
        return self.access.get(token)

    async def revoke_token(self, token):
        self.access.pop(token.token, None)

    def _new(self, client):
        access, refresh = f"access-{secrets.token_hex(16)}", f"refresh-{secrets.token_hex(16)}"
        self.access[access] = AccessToken(token=access, client_id=client.client_id, scopes=[])
        self.refresh[refresh] = RefreshToken(token=refresh, client_id=client.client_id, scopes=[])
        return OAuthToken(access_token=access, refresh_token=refresh, expires_in=self.life)


def endless():
    """An answer without an end, and without a word about its length."""

    async def pieces():
        yield b'{"issuer": "'
        while True:
            yield b"x" * 2**20
            await asyncio.sleep(0)  # or nobody notices that the client has gone

    return StreamingResponse(pieces(), media_type="application/json")


def browse(address):
    """What a browser does, for a person who agrees."""
    try:
        with urllib.request.urlopen(address) as page:
            return page.read().decode()
    except urllib.error.HTTPError as error:
        return error.read().decode()
