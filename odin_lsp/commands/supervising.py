"""Odin's end of a supervisor: started at once, without anything that could be cancelled halfway.

asyncio's own processes are not used here: one that is cancelled while it starts can leave a loop that never ends."""

import asyncio
import os
import subprocess
import sys
import weakref
from contextlib import suppress

from odin_lsp.commands.environment import hide_own_environment
from odin_lsp.permissions.sandbox import PACKAGES

PROGRAM = "import sys; sys.path.append(sys.argv[1]); from odin_lsp.commands import supervisor; supervisor.main()"
CHUNK = 1 << 16
MAX_REPORT_BYTES = 1 << 16


class Supervisor:
    """A process that waits for its job, does it, has a last word, and ends. It inherits `pipes`."""

    def __init__(self, pipes: tuple[int, ...] = ()) -> None:
        hide_own_environment()
        self.printed, writing = os.pipe()
        """Where the command will write; whoever gives a job closes it."""
        try:
            self._process = subprocess.Popen(  # noqa: S603
                [sys.executable, "-I", "-S", "-c", PROGRAM, PACKAGES],
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=writing,
                stderr=subprocess.PIPE,
                env={},
                cwd="/",
                start_new_session=True,
                pass_fds=pipes,
            )
        except BaseException:
            os.close(self.printed)
            raise
        finally:
            os.close(writing)
        assert self._process.stdin and self._process.stderr  # noqa: S101, PT018
        self._orders, self._words = self._process.stdin, self._process.stderr
        self._unsent = b""
        self._is_forgotten = weakref.finalize(self, _end, self._process, self.printed)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def give(self, job: bytes) -> None:
        """Its job, which it reads when it can."""
        self._is_forgotten.detach()
        os.set_blocking(self._orders.fileno(), False)
        self._unsent = job
        self._send()

    def dismiss(self) -> None:
        """It ends everything, and then itself."""
        if not self._orders.closed:
            self._send_no_more()
            self._orders.close()

    def kill(self) -> None:
        self._process.kill()

    async def last_word(self) -> bytes:
        """What it says when everything has ended. Nothing, if it was killed."""
        loop, heard, words = asyncio.get_running_loop(), bytearray(), self._words.fileno()
        all_heard = loop.create_future()

        def read() -> None:
            data = b""
            with suppress(OSError):
                data = os.read(words, CHUNK)
            heard.extend(data)
            if (not data or data.endswith(b"\n") or len(heard) > MAX_REPORT_BYTES) and not all_heard.done():
                all_heard.set_result(None)

        loop.add_reader(words, read)
        try:
            await all_heard
        finally:
            loop.remove_reader(words)
        return bytes(heard)

    async def ended(self) -> None:
        """Buried, and nothing of it is open any more."""
        self.dismiss()
        try:
            if self.is_alive:
                await asyncio.to_thread(self._process.wait)
        finally:
            self._words.close()

    def end_unused(self) -> None:
        """Without a job it has nothing to end, and takes no time."""
        self._is_forgotten()

    def _send(self) -> None:
        loop, orders = asyncio.get_running_loop(), self._orders.fileno()
        try:
            self._unsent = self._unsent[os.write(orders, self._unsent[:CHUNK]) :]
        except BlockingIOError:
            pass
        except OSError:  # it was killed
            self._unsent = b""
        if self._unsent:
            loop.add_writer(orders, self._send)
        else:
            loop.remove_writer(orders)

    def _send_no_more(self) -> None:
        if self._unsent:
            asyncio.get_running_loop().remove_writer(self._orders.fileno())
            self._unsent = b""


def _end(process: "subprocess.Popen[bytes]", printed: int) -> None:
    os.close(printed)
    for pipe in (process.stdin, process.stderr):
        if pipe is not None:
            pipe.close()
    process.wait()
