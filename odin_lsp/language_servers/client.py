"""JSON-RPC with a language server. All that it asks is answered, and all that it is asked comes to an end."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

from odin_lsp.commands import piped
from odin_lsp.commands.piped import Piped
from odin_lsp.commands.runner import Spec
from odin_lsp.errors import ToolError
from odin_lsp.frames import FrameError, Frames, Oversized, framed
from odin_lsp.intelligence.servers import Unavailable
from odin_lsp.loop_share import MOST_OF_A_PROGRAM, has_more_values
from odin_lsp.values import is_object

MAX_ANSWER = 16 * 2**20
"""Bytes of one message: what is larger would stop all else while it is read, and nobody wants to see it."""
CHANGED_MEANWHILE = (-32801, -32802)
"""Codes of errors that mean: ask again."""
PAUSE_SECONDS = 0.1
LONGEST_REASON = 300
SHUTDOWN_SECONDS = 1.0
EXIT_SECONDS = 0.5


class Client:
    def __init__(
        self,
        name: str,
        answer: Callable[[str, Any], Any],
        hear: Callable[[str, Any], None],
        ended: Callable[[str], None],
    ) -> None:
        """`answer` is asked what the server asks, `hear` told what it tells, and `ended` why it cannot be asked any
        more, unless it was to end."""
        self._name = name
        self._answer = answer
        self._hear = hear
        self._ended = ended
        self._frames = Frames()
        self._program: Piped | None = None
        self._asked: dict[int, asyncio.Future[Any]] = {}
        self._count = 0
        self._gone = ""
        """Why it cannot be asked any more."""
        self._is_wanted = True

    @property
    def pid(self) -> int | None:
        return self._program.pid if self._program else None

    @property
    def complaints(self) -> str:
        return self._program.complaints if self._program else ""

    async def start(self, spec: Spec) -> None:
        try:
            self._program = await piped.start(spec, self)
        except ToolError as error:
            raise Unavailable(f"{self._name} cannot be started: {error}") from None
        self._following = asyncio.create_task(self._follow(self._program))

    async def request(self, method: str, params: Any, timeout: float) -> Any:
        """What it answers; `Unavailable` if that is an error, nonsense, or not there in time."""
        try:
            async with asyncio.timeout(timeout):
                while True:
                    try:
                        return await self._request(method, params)
                    except _ChangedMeanwhile:
                        await asyncio.sleep(PAUSE_SECONDS)
        except TimeoutError:
            raise Unavailable(f"{self._name} has not answered {method} in {timeout:.3g} s") from None

    def notify(self, method: str, params: Any) -> None:
        self._send({"method": method, "params": params})

    async def end(self) -> None:
        """Ask it to end, and see to it that it does."""
        self._is_wanted = False
        if self._program is None:
            return
        if not self._gone:
            try:
                await self.request("shutdown", None, SHUTDOWN_SECONDS)
                self.notify("exit", None)
                await self._program.ends_within(EXIT_SECONDS)
            except Unavailable:
                pass
        self._fail(f"{self._name} was stopped")
        self._program.stop()
        await self._following

    @property
    def too_long(self) -> bool:
        """Never: what it prints is not kept."""
        return False

    def close(self) -> None:
        """It prints no more."""

    def feed(self, data: bytes) -> None:
        if self._gone:
            return
        try:
            for frame in self._frames.feed(data):
                self._take(frame)
        except FrameError as error:
            self._give_up(f"{self._name} does not speak LSP: {error}")

    async def _request(self, method: str, params: Any) -> Any:
        if self._gone:
            raise Unavailable(self._gone)
        self._count += 1
        number, answered = self._count, asyncio.get_running_loop().create_future()
        self._asked[number] = answered
        try:
            self._send({"id": number, "method": method, "params": params})
            return await answered
        finally:  # nothing is cancelled there: pyright answers no question of that kind any more once one was
            del self._asked[number]

    def _send(self, message: dict[str, Any]) -> None:
        if message.get("params", True) is None:
            del message["params"]
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        if self._program is not None and not self._program.write(framed(body)) and not self._gone:
            self._give_up(f"{self._name} does not read what it is sent")

    def _take(self, frame: bytes | Oversized) -> None:
        if isinstance(frame, Oversized) or len(frame) > MAX_ANSWER:
            self._refuse(f"{self._name} has sent more than {MAX_ANSWER // 2**20} MiB in one message")
            return
        if has_more_values(frame, MOST_OF_A_PROGRAM):
            self._refuse(f"{self._name} has sent more than {MOST_OF_A_PROGRAM:,} values in one message")
            return
        try:
            message = json.loads(frame)
        except (ValueError, RecursionError):
            message = None
        match message:
            case {"method": str(method), "id": int() | str() as number}:
                self._send({"id": number, "result": self._answer(method, message.get("params"))})
            case {"method": str(method)}:
                self._hear(method, message.get("params"))
            case {"id": int(number)} if "result" in message or "error" in message:
                self._settle(number, message)
            case _:
                self._refuse(f"{self._name} has sent something that is no message of LSP")

    def _settle(self, number: int, message: dict[str, Any]) -> None:
        answered = self._asked.get(number)
        if answered is None or answered.done():
            return  # nobody waits for it any more, or it has answered twice
        error = message.get("error")
        if not error:
            answered.set_result(message.get("result"))
        elif is_object(error) and error.get("code") in CHANGED_MEANWHILE:
            answered.set_exception(_ChangedMeanwhile())
        else:
            reason = str(error.get("message") if is_object(error) else error)[:LONGEST_REASON]
            answered.set_exception(Unavailable(f"{self._name} refuses: {reason}"))

    def _refuse(self, reason: str) -> None:
        """Which answer it was nobody knows, so it was that to all."""
        for answered in self._asked.values():
            if not answered.done():
                answered.set_exception(Unavailable(reason))

    def _give_up(self, reason: str) -> None:
        self._fail(reason)
        if self._program is not None:
            self._program.stop()

    def _fail(self, reason: str) -> None:
        is_news, self._gone = not self._gone, self._gone or reason
        self._refuse(self._gone)
        if is_news and self._is_wanted:
            self._ended(reason)

    async def _follow(self, program: Piped) -> None:
        how = await program.ended()
        code = f" with code {how.exit_code}" if how.exit_code is not None else ""
        self._fail(f"{self._name} has stopped{code}{f': {how.problem}' if how.problem else ''}")


class _ChangedMeanwhile(Exception):
    """The text has changed while it was looking for the answer."""
