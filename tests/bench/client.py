"""An editor that costs as little as possible, so that what is measured is the server."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from time import perf_counter
from typing import Any

from odin_lsp.loop_watch import REPORTS

LOOK = 0.5
RESTING = 0.02
"""Seconds of work between two looks, `LOOK` seconds apart, that count as rest."""
KEPT = ("PATH", "LANG", "LC_ALL", REPORTS)
CAPABILITIES = {"experimental": {"odin": {"version": 1, "events": True, "question": True}}}


def resident(process: int | str) -> float:
    """MiB of a process; `self`: of this one."""
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")) / 1024


class Client:
    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.heard: dict[int, float] = {}
        """When each word of the model arrived."""
        self._ids = count(1)
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._reading = asyncio.create_task(self._read())

    @property
    def memory(self) -> float:
        return resident(self.process.pid)

    async def at_rest(self) -> None:
        """Until the process has done by itself what it does after its start, however long that takes here."""
        before = float("-inf")
        while self._is_busy() or self._worked() - before > RESTING:
            before = self._worked()
            await asyncio.sleep(LOOK)

    def _is_busy(self) -> bool:
        """Whether a thread runs, or waits for a processor or a disk."""
        stats = Path(f"/proc/{self.process.pid}/task").glob("*/stat")
        return any(stat.read_text(encoding="utf-8").rpartition(") ")[2][0] in "RD" for stat in stats)

    def _worked(self) -> float:
        """Seconds of processor time."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="utf-8").rpartition(") ")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    async def initialize(self, root: Path) -> None:
        params = {"processId": os.getpid(), "rootUri": root.as_uri(), "capabilities": CAPABILITIES}
        await self.request("initialize", params)
        self.notify("initialized", {})

    def notify(self, method: str, params: Any) -> None:
        self._send({"method": method, "params": params})

    async def command(self, name: str, argument: Mapping[str, Any]) -> Any:
        return await self.request("workspace/executeCommand", {"command": name, "arguments": [argument]})

    async def request(self, method: str, params: Any = None) -> Any:
        number = next(self._ids)
        self._answers[number] = asyncio.get_running_loop().create_future()
        self._send({"id": number, "method": method, "params": params})
        return await self._answers[number]

    async def finished(self) -> None:
        """The process has said all it had to say."""
        await self._reading
        await self.process.wait()

    async def kill(self) -> None:
        if self.process.returncode is None:
            self.process.kill()
        await self.finished()

    def _send(self, message: dict[str, Any]) -> None:
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)

    async def _read(self) -> None:
        assert self.process.stdout
        try:
            while True:
                head = await self.process.stdout.readuntil(b"\r\n\r\n")
                length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
                self._take(json.loads(await self.process.stdout.readexactly(int(length.split(b":")[1]))))
        except asyncio.IncompleteReadError:
            for answer in self._answers.values():
                if not answer.done():
                    answer.set_exception(ConnectionError("the server is gone"))

    def _take(self, message: dict[str, Any]) -> None:
        match message:
            case {"method": "odin/event", "params": {"event": {"kind": "textStreamed", "text": text}}}:
                now = perf_counter()
                self.heard.update((int(word), now) for word in text.split() if word.isdecimal())
            case {"id": int(id), "result": result}:
                self._answers.pop(id).set_result(result)
            case {"id": int(id), "error": error}:
                self._answers.pop(id).set_exception(RuntimeError(error["message"]))


@asynccontextmanager
async def started(*arguments: str, workspace: Path, **variables: str) -> AsyncIterator[Client]:
    """A Python process that speaks to us, in an environment of its own: no keys, no settings, no proxies."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *arguments,
        cwd=workspace,
        env={
            **{name: os.environ[name] for name in KEPT if name in os.environ},
            "HOME": f"{workspace}-home",
            **variables,
        },
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    client = Client(process)
    try:
        yield client
    finally:
        await client.kill()
