"""Hosts on loopback that answer byte by byte as told, and names that lead where a test wants them to."""

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

Answer = Callable[["Connection"], Awaitable[None]]


@dataclass
class Connection:
    """One request, and the wire to answer it on."""

    line: str
    headers: dict[str, str]
    server_name: str | None
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    @property
    def path(self) -> str:
        return self.line.split(" ")[1]

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def hung_up(self) -> None:
        """Until the client has, however long it takes."""
        await self.reader.read()


@dataclass
class Host:
    """Speaks HTTP/1.1, one request a connection."""

    address: str = "127.0.0.1"
    tls: ssl.SSLContext | None = None
    pages: dict[str, Answer] = field(default_factory=dict[str, Answer])
    requests: list[Connection] = field(default_factory=list[Connection])
    connections: int = 0
    port: int = 0
    _server: asyncio.Server | None = None
    _names: list[str] = field(default_factory=list[str])

    async def __aenter__(self) -> "Host":
        if self.tls:
            self.tls.sni_callback = lambda sock, name, context: self._names.append(name)
        self._server = await asyncio.start_server(self._serve, self.address, self.port, ssl=self.tls)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
            name = self._names[-1] if self._names else None
            connection = Connection(head[0], headers, name, reader, writer)
            self.requests.append(connection)
            await self.pages.get(connection.path, self.pages.get("*", missing))(connection)
        except (ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
            pass  # what the tests are about: a client that hangs up
        finally:
            writer.close()

    def page(self, path: str, body: bytes | str, kind: str = "text/html", **headers: str) -> None:
        self.pages[path] = answer(body, kind, 200, **headers)

    def redirect(self, path: str, location: str, status: int = 302) -> None:
        self.pages[path] = moved(location, status)


def answer(body: bytes | str, kind: str = "text/html", status: int = 200, **headers: str) -> Answer:
    data = body.encode() if isinstance(body, str) else body
    lines = {"Content-Type": kind, "Content-Length": str(len(data)), "Connection": "close"}
    lines |= {name.replace("_", "-"): value for name, value in headers.items()}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items() if value)

    async def send(connection: Connection) -> None:
        await connection.send(f"HTTP/1.1 {status} Said\r\n{head}\r\n".encode() + data)

    return send


def moved(location: str, status: int = 302) -> Answer:
    return answer("", "", status, Location=location)


async def missing(connection: Connection) -> None:
    await answer("there is no such page", "text/plain", 404)(connection)


@dataclass
class Names:
    """A resolver that answers what it was told, call by call; the last answer stays."""

    answers: dict[str, list[Sequence[str]]] = field(default_factory=dict[str, list[Sequence[str]]])
    asked: list[str] = field(default_factory=list[str])

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        answers = self.answers.get(host, [])
        return answers.pop(0) if len(answers) > 1 else answers[0] if answers else ()
