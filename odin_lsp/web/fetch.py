"""One page over HTTP. Each hop is resolved once, all its addresses are checked, and a checked one is connected to.

The name stays in the Host header and in TLS, where the certificate is verified against it. Nothing of the user goes
along: no cookies, no credentials, no proxy of the environment."""

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from ipaddress import ip_address
from types import MappingProxyType
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from odin_lsp.config import Network, WebSettings
from odin_lsp.errors import ToolError
from odin_lsp.web.addresses import ALLOWABLE, DEFAULT_PORTS, Address, Target, is_internal_name, kind_of, parse, shown
from odin_lsp.web.body import CODINGS, Unpacker

if TYPE_CHECKING:
    import httpx2

MAX_REDIRECTS = 5
MAX_ADDRESSES = 4
"""That are tried, one after the other, when a host does not answer at the first."""
CONNECT_SECONDS = 10.0
REDIRECTS = frozenset({301, 302, 303, 307, 308})
HEADERS = {
    "User-Agent": "Odin-WebFetch",
    "Accept": "text/html, text/markdown, text/plain, application/json;q=0.9, */*;q=0.1",
    "Accept-Encoding": CODINGS,
}
NOTHING: Mapping[str, str] = MappingProxyType({})
HTML = frozenset({"text/html", "application/xhtml+xml"})
TEXT = frozenset({
    "application/ecmascript", "application/graphql", "application/javascript", "application/json", "application/jsonl",
    "application/sql", "application/toml", "application/x-ndjson", "application/x-sh", "application/x-yaml",
    "application/xml", "application/yaml",
})  # fmt: skip

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""A host's addresses."""


@dataclass(frozen=True, slots=True)
class Fetched:
    target: Target
    """Where it came from in the end."""
    content_type: str
    charset: str | None
    body: bytes
    is_cut: bool

    @property
    def is_html(self) -> bool:
        return self.content_type in HTML


@dataclass(frozen=True, slots=True)
class Redirected:
    """The page is elsewhere: whether to go there is a new question."""

    source: Target
    target: Target


async def system_resolve(host: str, port: int) -> Sequence[str]:
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


class Fetcher:
    def __init__(self, settings: WebSettings, network: Network, resolve: Resolve = system_resolve) -> None:
        self._settings = settings
        self._network = network
        self._resolve = resolve
        self._tls: ssl.SSLContext | None = None

    async def fetch(self, url: str, headers: Mapping[str, str] = NOTHING) -> Fetched | Redirected:
        """A `ToolError` says why there is no page. It takes as long as it takes: the caller sets the deadline.
        `headers` go to no other host."""
        target = parse(url)
        been = {target.url}
        while True:
            answer = await self._hop(target, headers)
            if isinstance(answer, Fetched):
                return answer
            if not _same_place(target, answer):
                return Redirected(target, answer)
            if target.scheme == "https" and answer.scheme == "http":
                raise ToolError(f"{target.url} redirects to itself without encryption, which is not followed")
            if answer.url in been or len(been) > MAX_REDIRECTS:
                raise ToolError(f"{url} redirects in a circle, or more than {MAX_REDIRECTS} times")
            been.add(answer.url)
            target = answer

    async def _hop(self, target: Target, headers: Mapping[str, str]) -> "Fetched | Target":
        """The page, or where the host sends us."""
        import httpx2

        addresses = await self._checked(target)
        try:
            async with await self._transport() as transport:
                response = await self._answer(transport, target, addresses, headers)
                try:
                    return await self._taken(target, response)
                finally:
                    await response.aclose()
        except httpx2.TimeoutException:
            raise ToolError(f"{target.authority} does not answer in time") from None
        except httpx2.HTTPError as error:
            raise ToolError(f"{target.url} cannot be fetched: {_quoted(error)}") from None

    async def _checked(self, target: Target) -> Sequence[Address]:
        """The host's addresses, all of which may be asked."""
        allowed = _allows(self._settings.private_hosts, target)
        if target.literal is not None:
            addresses: list[Address] = [target.literal]
        elif is_internal_name(target.host) and not allowed:
            raise _refused(target, "it is a name of a private network")
        else:
            addresses = await self._resolved(target)
        for address in addresses:
            kind = kind_of(address)
            if kind != "public" and not (allowed and kind in ALLOWABLE):
                raise _refused(target, f"its address {address} is {kind}")
        return addresses[:MAX_ADDRESSES]

    async def _resolved(self, target: Target) -> list[Address]:
        try:
            found = await self._resolve(target.host, target.port)
        except (OSError, UnicodeError):
            found = ()
        if not found:
            raise ToolError(f"{shown(target.host)} has no address; check its spelling")
        return [ip_address(one.partition("%")[0]) for one in found]

    async def _transport(self) -> "httpx2.AsyncHTTPTransport":
        """One for each hop, so that nothing is carried from one to the next. Below httpx's client, which would look at
        the environment, at cookies and at where a redirect leads."""
        import httpx2

        if self._tls is None:
            bundle = self._network.ca_bundle
            make = (lambda: ssl.create_default_context(cafile=bundle)) if bundle else httpx2.create_ssl_context
            try:
                self._tls = await asyncio.to_thread(make)
            except OSError as error:
                raise ToolError(f"the CA bundle {bundle} cannot be used ({error}); check its path") from None
        try:
            return httpx2.AsyncHTTPTransport(verify=self._tls, proxy=self._network.proxy, trust_env=False)
        except (ValueError, httpx2.InvalidURL, ImportError):  # whose texts may hold the proxy's password
            raise ToolError("the proxy cannot be used; the user should check `network.proxy`") from None

    async def _answer(
        self,
        transport: "httpx2.AsyncHTTPTransport",
        target: Target,
        addresses: Sequence[Address],
        headers: Mapping[str, str],
    ) -> "httpx2.Response":
        import httpx2

        connect = min(CONNECT_SECONDS, self._settings.timeout / 2)
        extensions = {"sni_hostname": target.host, "timeout": httpx2.Timeout(None, connect=connect).as_dict()}
        for address in addresses:
            path = target.path.encode("ascii")
            url = httpx2.URL(scheme=target.scheme, host=str(address), port=target.port, raw_path=path)
            said = {"Host": target.authority, **HEADERS, **headers}
            try:
                return await transport.handle_async_request(
                    httpx2.Request("GET", url, headers=said, extensions=extensions)
                )
            except (httpx2.ConnectError, httpx2.ConnectTimeout):
                if address == addresses[-1]:
                    raise
        raise AssertionError("a host has at least one address")

    async def _taken(self, target: Target, response: "httpx2.Response") -> "Fetched | Target":
        location = response.headers.get("location")
        if response.status_code in REDIRECTS and location:
            return _next(target, location)
        if not response.is_success:
            raise ToolError(f"{target.url} answered {response.status_code} {_phrase(response.status_code)}".rstrip())
        content_type, charset = _type_of(response)
        if content_type and not _is_text(content_type):
            size = response.headers.get("content-length")
            raise ToolError(
                f"{target.url} is {content_type[:100]!r} ({f'{size[:20]} bytes' if size else 'of unknown size'});"
                " only pages and text can be fetched"
            )
        unpacker = Unpacker(response.headers.get("content-encoding", ""), self._settings.max_bytes)
        async for piece in response.aiter_raw():
            unpacker.feed(piece)
            if unpacker.is_full:
                break
        fetched = Fetched(target, content_type, charset, bytes(unpacker.body), unpacker.is_full)
        return fetched if content_type else _guessed(fetched)


def _allows(hosts: Sequence[str], target: Target) -> bool:
    return not {target.bracketed, f"{target.bracketed}:{target.port}"}.isdisjoint(host.lower() for host in hosts)


def _refused(target: Target, why: str) -> ToolError:
    return ToolError(
        f"{shown(target.host)} is not fetched: {why}. Only the user can allow a private host,"
        " with `web.privateHosts` in their own settings"
    )


def _same_place(here: Target, there: Target) -> bool:
    """The same host on the same port; those of HTTP and HTTPS count as one."""
    ports = {here.port, there.port}
    return here.host == there.host and (len(ports) == 1 or ports == set(DEFAULT_PORTS.values()))


def _next(target: Target, location: str) -> Target:
    try:
        return parse(urljoin(target.url, location))
    except (ToolError, ValueError) as error:
        raise ToolError(f"{target.url} redirects to {_quoted(location)}, which is not followed: {error}") from None


def _type_of(response: "httpx2.Response") -> tuple[str, str | None]:
    from email.message import Message

    header = Message()
    header["content-type"] = response.headers.get("content-type", "")
    if "/" not in header["content-type"]:
        return "", None
    return header.get_content_type(), header.get_content_charset()


def _is_text(content_type: str) -> bool:
    return content_type.startswith("text/") or content_type in HTML | TEXT or content_type.endswith(("+json", "+xml"))


def _guessed(fetched: Fetched) -> Fetched:
    """The host does not say what it is."""
    start = fetched.body[:1024]
    if b"\0" in start:
        raise ToolError(f"{fetched.target.url} is no text; only pages and text can be fetched")
    is_html = start.lstrip()[:15].lower().startswith((b"<!doctype html", b"<html"))
    return replace(fetched, content_type="text/html" if is_html else "text/plain")


def _phrase(status: int) -> str:
    return HTTPStatus(status).phrase if status in list(HTTPStatus) else ""


def _quoted(said: object) -> str:
    return ascii(" ".join(str(said).split())[:300] or type(said).__name__)
