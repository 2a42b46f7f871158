"""The client through which an SDK sends. An SDK reads refusals and lists whole, and events of AWS' own format before
anybody else sees them: so what comes is bounded here, as `Line` bounds what it reads itself."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import httpx2

from odin_lsp.models import bodies
from odin_lsp.models.bodies import TooMuch
from odin_lsp.models.platforms.events import unpacked

AWS_STREAM = "application/vnd.amazon.eventstream"
MOST_OF_A_FRAME = 2**20
"""Bytes of one of AWS' frames, of which each has an event: the SDK holds it whole, and parses it in one go."""
MOST_OF_AN_ANSWER = 8 * 2**20
"""Bytes of one that is no stream: a list of models, a count."""
_LENGTH = 4
"""Bytes with which a frame begins, and which say how long it is."""


class BoundedClient(httpx2.AsyncClient):
    async def send(self, request: httpx2.Request, *, stream: bool = False, **options: Any) -> httpx2.Response:
        """What begins well and is a stream comes as it is; all else has been read as far as it is read at all."""
        response = await super().send(request, stream=True, **options)
        if stream and response.is_success:
            is_of_aws = response.headers.get("content-type", "").startswith(AWS_STREAM)
            return _copy(response, stream=_Frames(response)) if is_of_aws else response
        async with aclosing(response):
            if not response.is_success:
                return _copy(response, content=await bodies.beginning(response))
            try:
                return _copy(response, content=await bodies.whole(response, MOST_OF_AN_ANSWER))
            except TooMuch as error:
                raise httpx2.DecodingError(f"the answer was stopped: {error}", request=request) from error


def _copy(response: httpx2.Response, **body: Any) -> httpx2.Response:
    return httpx2.Response(response.status_code, headers=unpacked(response.headers), request=response.request, **body)


class _Frames(httpx2.AsyncByteStream):
    def __init__(self, response: httpx2.Response) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        frames = FrameLengths()
        async with aclosing(bodies.pieces(self._response, bodies.MOST_OF_AN_ANSWER)) as pieces:
            async for piece in pieces:
                frames.check(piece)
                yield piece

    async def aclose(self) -> None:
        await self._response.aclose()


class FrameLengths:
    """How long the frames say that they are, one behind the other."""

    def __init__(self) -> None:
        self._length = bytearray()
        self._left = 0
        """Bytes until the next one begins."""

    def check(self, piece: bytes) -> None:
        """Raises `TooMuch` where one begins that no model sends."""
        at = 0
        while at < len(piece):
            if not self._left:
                begun = piece[at : at + _LENGTH - len(self._length)]
                self._length += begun
                at += len(begun)
                if len(self._length) == _LENGTH:
                    self._left = self._rest()
            else:
                passed = min(self._left, len(piece) - at)
                self._left -= passed
                at += passed

    def _rest(self) -> int:
        length = int.from_bytes(self._length)
        self._length.clear()
        if length > MOST_OF_A_FRAME:
            raise TooMuch(f"one event in it has more than {MOST_OF_A_FRAME // 2**20} MiB")
        return max(0, length - _LENGTH)
