"""Who sends a body that is ready, and brings the beginning of the answer. No adapter knows which sender it has."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

import httpx2

from odin_lsp.models.key import Key


class Sender(Protocol):
    async def post(self, path: str, body: bytes) -> httpx2.Response:
        """Return an answer that has begun, also one that refuses; who takes it closes it. The body of one that does
        not refuse is an event stream."""
        ...

    async def renew(self, refused: httpx2.Response) -> bool:
        """The provider does not accept the credentials of this request: whether there are others to try now."""
        ...

    async def aclose(self) -> None: ...


@dataclass(frozen=True, slots=True)
class DirectSender:
    """Odin itself, with a key in the headers."""

    client: httpx2.AsyncClient
    address: str
    key: Key
    headers: Callable[[str], Mapping[str, str]]
    """With this key."""

    async def post(self, path: str, body: bytes) -> httpx2.Response:
        headers = self.headers(await self.key.current())
        request = self.client.build_request("POST", f"{self.address}{path}", content=body, headers=headers)
        return await self.client.send(request, stream=True)

    async def renew(self, refused: httpx2.Response) -> bool:
        """Another request may have got another key meanwhile."""
        key, sent = await self.key.current(), refused.request.headers
        is_same = all(sent.get(name) == value for name, value in self.headers(key).items())
        return not is_same or await self.key.renew(key)

    async def aclose(self) -> None:
        await self.client.aclose()
