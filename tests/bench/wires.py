"""A provider on loopback that speaks any of their formats and answers at once. It notes what its client has cost so far
whenever a request comes: times depend on what else the machine does, processor time hardly does."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

from tests.bench.client import resident
from tests.support.wire import (
    Answer,
    anthropic_call,
    anthropic_end,
    anthropic_sse,
    anthropic_start,
    anthropic_text,
    google_call,
    google_chunk,
    google_sse,
    openai_call,
    openai_chunk,
    openai_sse,
    responses_call,
    responses_end,
    responses_sse,
    responses_text,
)

Arguments = Mapping[str, Any]


@dataclass(frozen=True)
class Wire:
    """How a provider is reached, and how it calls and talks."""

    name: str
    model: str
    key: str
    base: str
    path: str
    """What a client's base address ends with."""
    calling: Callable[[str, str, Arguments], bytes]
    """An answer that calls a tool, by the call's id, the tool's name and its arguments."""
    talking: Callable[[str], bytes]

    def environment(self, url: str) -> dict[str, str]:
        return {self.key: "fake", self.base: f"{url}{self.path}"}


def _anthropic_calling(id: str, name: str, arguments: Arguments) -> bytes:
    return anthropic_sse(
        anthropic_start(), *anthropic_call(0, id, name, json.dumps(arguments)), *anthropic_end("tool_use")
    )


def _anthropic_talking(text: str) -> bytes:
    return anthropic_sse(anthropic_start(), *anthropic_text(0, text), *anthropic_end("end_turn"))


def _chat_calling(id: str, name: str, arguments: Arguments) -> bytes:
    return openai_sse(*openai_call(0, id, name, json.dumps(arguments)), openai_chunk({}, "tool_calls"))


def _chat_talking(text: str) -> bytes:
    return openai_sse(openai_chunk({"role": "assistant", "content": text}), openai_chunk({}, "stop"))


def _responses_calling(id: str, name: str, arguments: Arguments) -> bytes:
    return responses_sse(*responses_call(0, id, name, json.dumps(arguments)), responses_end())


def _responses_talking(text: str) -> bytes:
    return responses_sse(*responses_text(0, text), responses_end())


def _google_calling(id: str, name: str, arguments: Arguments) -> bytes:
    call = google_call(name, dict(arguments), thoughtSignature="c2ln")
    return google_sse(google_chunk({"functionCall": {**call["functionCall"], "id": id}}, reason="STOP"))


def _google_talking(text: str) -> bytes:
    return google_sse(google_chunk({"text": text}, reason="STOP"))


WIRES = (
    Wire(
        "Anthropic",
        "anthropic/claude-sonnet-5-5",
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_BASE_URL",
        "",
        _anthropic_calling,
        _anthropic_talking,
    ),
    Wire("OpenAI, Chat", "openai/gpt-6-sol", "OPENAI_API_KEY", "OPENAI_BASE_URL", "/v1", _chat_calling, _chat_talking),
    Wire(
        "OpenAI, Responses",
        "openai/gpt-6-sol",
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
        "/v1/responses",
        _responses_calling,
        _responses_talking,
    ),
    Wire(
        "Google",
        "google/gemini-3.8-flash",
        "GEMINI_API_KEY",
        "GOOGLE_GEMINI_BASE_URL",
        "",
        _google_calling,
        _google_talking,
    ),
)


@dataclass
class Provider:
    """Makes `calls`, a tool's name and arguments, one a step, and then says that it is done."""

    wire: Wire
    calls: list[tuple[str, Arguments]]
    client: int | None = None
    """Whose cost is noted."""
    url: str = ""
    arrivals: list[float] = field(default_factory=list[float])
    replies: list[float] = field(default_factory=list[float])
    costs: list[float] = field(default_factory=list[float])
    """Seconds of processor time that the client had taken when each request came."""
    sizes: list[float] = field(default_factory=list[float])
    """MiB that it had then."""
    first: bytes = b""
    """The first request."""

    @property
    def gaps(self) -> list[float]:
        """From each reply's last byte to the next request."""
        return [after - before for before, after in zip(self.replies, self.arrivals[1:], strict=False)]

    @asynccontextmanager
    async def listening(self) -> AsyncGenerator["Provider"]:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        try:
            yield self
        finally:
            server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                arrived, cost = perf_counter(), processor_time(self.client)
                length = head.partition(b"\r\ncontent-length:")[2].partition(b"\r\n")[0]
                body = await reader.readexactly(int(length or b"0"))
                if not head.startswith(b"post"):
                    writer.write(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n")
                    continue
                if not self.is_counted(body):
                    writer.write(Answer([self.wire.talking("yes")]).raw())
                    continue
                self.arrivals.append(arrived)
                self.costs.append(cost)
                self.sizes.append(resident(self.client or "self"))
                self.first = self.first or body
                writer.write(Answer([self._answer(len(self.replies))]).raw())
                self.replies.append(perf_counter())
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def is_counted(self, body: bytes) -> bool:
        """Whether it is a step."""
        return bool(body)

    def _answer(self, step: int) -> bytes:
        if step < len(self.calls):
            return self.wire.calling(f"call_{step}", *self.calls[step])
        return self.wire.talking("done")


def processor_time(process: int | None) -> float:
    """Seconds that its threads have taken so far."""
    spent = Path(f"/proc/{process}/task").glob("*/schedstat") if process else ()
    return sum(int(it.read_text(encoding="ascii").split()[0]) for it in spent) / 1e9
