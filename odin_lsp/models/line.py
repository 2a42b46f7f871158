"""The line to a provider: a body that is ready goes out, and the events of the answer come in.

With a plain key Odin sends by itself. The providers' SDKs would check and convert the whole conversation in every
request, and to import one takes longer than all of Odin. `tests/providers/test_sdks.py` shows that what is sent is what
they would send. Where more than a key is needed an SDK is the sender (`platforms/`)."""

import os
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from itertools import chain
from typing import Any, Protocol
from urllib.parse import urlsplit

import httpx2

from odin_lsp import __version__
from odin_lsp.errors import ModelError
from odin_lsp.loop_share import LoopShare
from odin_lsp.messages import Text, Thinking
from odin_lsp.models import bodies
from odin_lsp.models.base import ArgumentsDelta, Reached, Received, Reply, StreamEvent, TextDelta, ThinkingDelta
from odin_lsp.models.bodies import TooMuch
from odin_lsp.models.senders import Sender
from odin_lsp.models.service import BROKEN, Service, rate_limit

MOST_SAID = 8 * 2**20
"""Characters of an answer: two million tokens, where models have 130,000."""
UNAUTHORIZED = 401
RECEIPT_SECONDS = 0.25
OF_THE_CONNECTION = ("connection", "content-length", "host", "transfer-encoding")
_NAME = re.compile(r"[!#$%&'*+.^_`|~\w-]+", re.ASCII)
_VALUE = re.compile(r"[\t -~]*")
OWN_HEADERS = {
    "accept": "application/json",
    "content-type": "application/json",
    "user-agent": f"odin-lsp/{__version__}",
}


class Receipt:
    """Counts what comes of one answer, and says so a few times a second at most."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._told_at = clock()
        self.total = Received(0, 0)

    def count(self, data: str) -> Iterator[Received]:
        """`data` of one event."""
        size = len(data) if data.isascii() else len(data.encode())
        self.total = Received(self.total.size + size, self.total.events + 1)
        if self._clock() - self._told_at >= RECEIPT_SECONDS:
            self._told_at = self._clock()
            yield self.total


class Answer(Protocol):
    """An answer in the making."""

    def take(self, data: str) -> Iterator[StreamEvent]: ...

    def reply(self) -> Reply:
        """What was said, if it has an end."""
        ...


@dataclass(frozen=True, slots=True)
class Line:
    service: Service
    sender: Sender
    fault: Callable[[Service, int, Any, Mapping[str, str]], ModelError]
    """What a refusal means, by its status, its body (parsed, if it is JSON) and its headers."""

    async def post(self, path: str, body: bytes) -> httpx2.Response:
        """An answer that has begun well; who takes it closes it. Credentials that are not accepted are looked for once
        more: a program may print another key, the user may have signed in meanwhile."""
        try:
            response = await self.sender.post(path, body)
            if response.is_success:
                return response
            fault = await self._refusal(response)
            if fault.status == UNAUTHORIZED and await self.sender.renew(response):
                response = await self.sender.post(path, body)
                if response.is_success:
                    return response
                fault = await self._refusal(response)
            raise fault
        except BROKEN as error:
            raise self.service.broken(error) from error

    async def _refusal(self, response: httpx2.Response) -> ModelError:
        async with aclosing(response):
            said = bodies.parsed(await bodies.beginning(response))
        return self.fault(self.service, response.status_code, said, response.headers)

    async def talk(self, send: Callable[[], Awaitable[httpx2.Response]], answer: Answer) -> AsyncIterator[StreamEvent]:
        response = await send()
        try:
            async with aclosing(response), aclosing(bodies.events(response)) as events:
                self.service.check_events(response)
                yield Reached("waiting_token")
                for limited in rate_limit(response.headers):
                    yield limited
                said, share, receipt = 0, LoopShare(), Receipt()
                async for data in events:
                    for event in chain(receipt.count(data), answer.take(data)):
                        said += _size(event)
                        _check(said)
                        yield event
                        await share.pass_on()
            reply = answer.reply()
            _check(_size(reply))
            yield receipt.total
        except TooMuch as error:
            raise self.service.too_much(error) from error
        except BROKEN as error:
            raise self.service.broken(error) from error
        yield reply

    async def aclose(self) -> None:
        await self.sender.aclose()


def _size(event: StreamEvent) -> int:
    match event:
        case TextDelta(text) | ThinkingDelta(text) | ArgumentsDelta(_, _, text):
            return len(text)
        case Reply(message):
            return sum(len(it.text) for it in message.parts if isinstance(it, Text | Thinking))
        case _:
            return 0


def _check(said: int) -> None:
    if said > MOST_SAID:
        raise TooMuch(f"it says more than {MOST_SAID // 2**20} million characters")


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
