"""The line to a provider: a body that is ready goes out, and the events of the answer come in.

It is not the providers' SDKs that send. They check and convert the whole conversation in every request, and to import
one takes longer than all of Odin. `tests/providers/test_sdks.py` shows that what is sent is what they would send."""

import json
import os
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import urlsplit

import httpx2

from odin_lsp import __version__
from odin_lsp.errors import ModelError
from odin_lsp.models.base import Reached, Reply, StreamEvent
from odin_lsp.models.service import BROKEN, Service, rate_limit

MOST_OF_A_REFUSAL = 200_000
"""Bytes of it that are read: what refuses need not be the provider."""
OF_THE_CONNECTION = ("connection", "content-length", "host", "transfer-encoding")
_NAME = re.compile(r"[!#$%&'*+.^_`|~\w-]+", re.ASCII)
_VALUE = re.compile(r"[\t -~]*")
OWN_HEADERS = {
    "accept": "application/json",
    "content-type": "application/json",
    "user-agent": f"odin-lsp/{__version__}",
}


class Answer(Protocol):
    """An answer in the making."""

    def take(self, data: str) -> Iterator[StreamEvent]: ...

    def reply(self) -> Reply:
        """What was said, if it has an end."""
        ...


@dataclass(frozen=True, slots=True)
class Line:
    service: Service
    client: httpx2.AsyncClient
    address: str
    headers: Mapping[str, str]
    fault: Callable[[Service, int, Any, Mapping[str, str]], ModelError]
    """What a refusal means, by its status, its body (parsed, if it is JSON) and its headers."""

    async def post(self, path: str, body: bytes) -> httpx2.Response:
        """An answer that has begun well; who takes it closes it."""
        try:
            request = self.client.build_request("POST", f"{self.address}{path}", content=body, headers=self.headers)
            response = await self.client.send(request, stream=True)
            if response.is_success:
                return response
            async with aclosing(response):
                said = _parsed(await _beginning(response))
            raise self.fault(self.service, response.status_code, said, response.headers)
        except BROKEN as error:
            raise self.service.broken(error) from error

    async def talk(self, send: Callable[[], Awaitable[httpx2.Response]], answer: Answer) -> AsyncIterator[StreamEvent]:
        response = await send()
        try:
            async with aclosing(response):
                self.service.check_events(response)
                yield Reached("waiting_token")
                for limited in rate_limit(response.headers):
                    yield limited
                events = EventData()
                async for chunk in response.aiter_bytes():
                    for data in events.of(chunk):
                        for event in answer.take(data):
                            yield event
        except BROKEN as error:
            raise self.service.broken(error) from error
        yield answer.reply()


class EventData:
    """The data of each server-sent event that is complete. One that the end of the answer cuts off does not count."""

    def __init__(self) -> None:
        self._rest = b""
        self._lines: list[bytes] = []

    def of(self, chunk: bytes) -> Iterator[str]:
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        for line in lines:
            if line.startswith(b"data:"):
                self._lines.append(line[5:].removeprefix(b" ").removesuffix(b"\r"))
            elif line in (b"", b"\r") and self._lines:
                yield b"\n".join(self._lines).decode()
                self._lines.clear()


def address(service: Service) -> str:
    """Where its requests go; `ModelError` if what the user has set is no address."""
    found = (os.environ.get(service.base_variable) or service.usual).strip().rstrip("/")
    try:
        parts = urlsplit(found)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_address = False
    if not is_address:
        raise ModelError(
            f"{service.base_variable} holds no address; write one that begins with http:// or https://, or unset it"
        )
    return found


def custom_headers(variable: str) -> dict[str, str]:
    """What the user wants to have sent as well: a header a line, `Name: value`."""
    lines = (line.partition(":") for line in os.environ.get(variable, "").splitlines())
    wanted = {name.strip().lower(): value.strip() for name, colon, value in lines if colon}
    for name, value in wanted.items():
        if name in OF_THE_CONNECTION or not (_NAME.fullmatch(name) and _VALUE.fullmatch(value)):
            raise ModelError(f"{variable} has a header that cannot be sent ({name[:40]!r}); correct it, or unset it")
    return wanted


def named_headers(variables: Mapping[str, str]) -> dict[str, str]:
    """Headers whose values are in these variables, as far as they are set."""
    wanted = {name: value for name, variable in variables.items() if (value := os.environ.get(variable, "").strip())}
    for name, value in wanted.items():
        if not _VALUE.fullmatch(value):
            raise ModelError(f"{variables[name]} has characters that cannot be sent; correct it, or unset it")
    return wanted


async def _beginning(response: httpx2.Response) -> bytes:
    read = bytearray()
    async for chunk in response.aiter_bytes():
        read += chunk
        if len(read) > MOST_OF_A_REFUSAL:
            break
    return bytes(read)


def _parsed(said: bytes) -> Any:
    try:
        return json.loads(said)
    except (ValueError, RecursionError):
        return said.decode(errors="replace")
