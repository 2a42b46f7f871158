"""Programs that are spoken to: what goes in and out, what they complain of, and how they end."""

import asyncio
import os

import pytest

from odin_lsp.commands import piped
from odin_lsp.commands.environment import child_environment, find_shell
from odin_lsp.commands.runner import Spec


class Heard:
    too_long = False

    def __init__(self):
        self.data = b""
        self.news = asyncio.Event()
        self.is_closed = False

    def feed(self, data):
        self.data += data
        self.news.set()

    def close(self):
        self.is_closed = True

    async def until(self, wanted):
        while wanted not in self.data:
            self.news.clear()
            await self.news.wait()


@pytest.fixture
async def speak(workspace):
    started = []

    async def speak(command):
        heard = Heard()
        spec = Spec(
            argv=(find_shell(), "--noprofile", "--norc", "-c", command),
            cwd=workspace,
            environment=child_environment(os.environ, [workspace]),
        )
        started.append(await piped.start(spec, heard))
        return started[-1], heard

    yield speak
    for program in started:
        program.stop()
        await program.ended()


async def test_a_program_answers_what_it_is_told(speak):
    program, heard = await speak("while read line; do echo got $line; done; echo end of input")

    assert program.write(b"one\n")
    await heard.until(b"got one\n")
    assert program.write(b"two\n")
    await heard.until(b"got two\n")
    assert not await program.ends_within(0.01)


async def test_complaints_are_read_and_the_last_are_kept(speak):
    program, heard = await speak(
        "for i in $(seq 30000); do echo complaint $i >&2; done; printf 'last words' >&2; echo x"
    )

    ended = await program.ended()

    assert (ended.how, ended.exit_code, heard.data) == ("exited", 0, b"x\n")
    assert program.complaints.splitlines()[-2:] == ["complaint 30000", "last words"]
    assert len(program.complaints.splitlines()) == piped.KEPT_LINES
    assert heard.is_closed


async def test_one_that_has_ended_takes_nothing_more(speak):
    program, _ = await speak("exit 3")

    assert (await program.ended()).exit_code == 3
    assert not program.write(b"x\n")


async def test_one_that_does_not_read_is_not_sent_everything(speak):
    program, _ = await speak("sleep 300")

    chunk = b"x" * (16 * 1024 * 1024)

    assert [program.write(chunk) for _ in range(6)] == [True] * 5 + [False]


async def test_stopping_it_ends_all_that_it_has_started(speak, workspace):
    program, heard = await speak("setsid sleep 300 & echo $!; trap '' TERM; wait; sleep 300")
    await heard.until(b"\n")
    pid = int(heard.data)

    program.stop()
    ended = await program.ended()

    assert (ended.how, ended.survivors) == ("stopped", 0)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
