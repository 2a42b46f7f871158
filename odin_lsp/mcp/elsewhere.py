"""Whom a server sends Odin to for a login: metadata and tokens may be at other addresses than the server's own.

A server that is on the net must not have Odin ask machines that only Odin can reach, and no secret goes through a
network unencrypted."""

from collections.abc import Sequence
from ipaddress import ip_address

import httpx2

from odin_lsp.config import Network
from odin_lsp.errors import ToolError
from odin_lsp.web.addresses import ALLOWABLE, Address, Kind, Target, kind_of, parse, shown
from odin_lsp.web.fetch import Resolve, system_resolve


def is_secure(url: httpx2.URL) -> bool:
    """What is sent there cannot be read on the way."""
    return url.scheme == "https" or _is_this_machine(url.host)


class Elsewhere:
    def __init__(self, url: str, network: Network, resolve: Resolve = system_resolve) -> None:
        """`url` is the server's own, which the user has named."""
        self._server = httpx2.URL(url)
        self._network = network
        self._resolve = resolve

    async def pin(self, request: httpx2.Request) -> None:
        """Connect to an address that was looked at, whatever the name means a moment later. Raises `ToolError`."""
        if addresses := await self.check(request.url):
            host = request.url.host
            request.url = request.url.copy_with(host=str(addresses[0]))
            request.extensions = {**request.extensions, "sni_hostname": host}

    async def check(self, url: httpx2.URL) -> Sequence[Address]:
        """The addresses of another host; none for the server's own, and for one that only a proxy knows."""
        if _origin(url) == _origin(self._server):
            return ()
        target = parse(str(url.copy_with(query=None)))
        if not is_secure(url):
            raise ToolError(f"the login leads to {shown(target.host)} without encryption, which is not followed")
        addresses = await self._addresses(target)
        if not addresses and not self._network.proxy:
            raise ToolError(f"the login leads to {shown(target.host)}, which has no address")
        allowed = await self._allowed()
        for it in addresses:
            if kind_of(it) not in allowed:
                raise ToolError(
                    f"the login leads to {shown(target.host)}, whose address {it} is {kind_of(it)}; it is not followed"
                )
        return addresses

    async def _allowed(self) -> set[Kind]:
        """Whoever is in a private network may send Odin to others there."""
        addresses = await self._addresses(parse(str(self._server.copy_with(query=None))))
        near = ALLOWABLE.intersection(map(kind_of, addresses))
        return {"public", "private", *near} if near else {"public"}

    async def _addresses(self, target: Target) -> list[Address]:
        if target.literal is not None:
            return [target.literal]
        try:
            found = await self._resolve(target.host, target.port)
        except (OSError, UnicodeError):
            return []
        return [ip_address(it.partition("%")[0]) for it in found]


def _origin(url: httpx2.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port


def _is_this_machine(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
