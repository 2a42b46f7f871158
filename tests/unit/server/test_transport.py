"""Frames in and out: any cut of the stream gives the same bodies, no client can stop the loop."""

import asyncio
import os
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from functools import partial
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odin_lsp.frames import MAX_FRAME, FrameError, Frames, Lines, Oversized, as_line, framed
from odin_lsp.loop_share import PART_SECONDS
from odin_lsp.server.transport import MAX_WAITING, MOST_OFFERED, SocketChannel, Transport, _Stdio, tcp_channel


def bodies(stream: bytes, sizes: list[int] | None = None) -> list[bytes | Oversized]:
    frames, found = Frames(), []
    for size in sizes or [len(stream)]:
        found += frames.feed(stream[:size])
        stream = stream[size:]
    return found + list(frames.feed(stream))


@pytest.mark.parametrize(
    "header",
    [
        b"Content-Length: 2\r\n\r\n",
        b"content-length: 2\r\n\r\n",
        b"CONTENT-LENGTH:2\r\n\r\n",
        b"Content-Length \t:\t 2 \r\n\r\n",
        b"Content-Length: 2\n\n",
        b"Content-Length: 2\r\n\n",
        b"Content-Length: 002\r\n\r\n",
        b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n",
        b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: 2\r\nX-Any: a:b\r\n\r\n",
    ],
)
def test_every_spelling_of_a_header_is_understood(header):
    assert bodies(header + b"{}" + header + b"[]") == [b"{}", b"[]"]


@pytest.mark.parametrize(
    "header",
    [
        b"\r\n\r\n",
        b"Content-Type: x\r\n\r\n",
        b"Content-Length: -2\r\n\r\n",
        b"Content-Length: +2\r\n\r\n",
        b"Content-Length: 2_0\r\n\r\n",
        b"Content-Length: two\r\n\r\n",
        b"Content-Length: 2.0\r\n\r\n",
        b"Content-Length: \r\n\r\n",
        b"Content-Length: 1000000000000\r\n\r\n",
        b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n",
        b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n",
        b"Content Length: 2\r\n\r\n",
        b"Content-Length 2\r\n\r\n",
        b'"}Content-Length: 2\r\n\r\n',
        b"\r\nContent-Length: 2\r\n\r\n",
        b"X: " + b"x" * 8192,
        b"x" * 8192,
    ],
)
def test_a_header_without_sense_is_an_error(header):
    with pytest.raises(FrameError):
        bodies(header + b"{}")


def test_what_was_complete_before_an_error_is_not_lost():
    frames = Frames().feed(b"Content-Length: 2\r\n\r\n{}bogus\r\n\r\n")

    assert next(frames) == b"{}"
    with pytest.raises(FrameError):
        next(frames)


def test_an_empty_body_is_a_frame():
    assert bodies(b"Content-Length: 0\r\n\r\nContent-Length: 2\r\n\r\n{}") == [b"", b"{}"]


def test_a_body_that_is_too_long_is_announced_at_once_and_skipped():
    frames = Frames()

    assert list(frames.feed(b"Content-Length: %d\r\n\r\n" % (MAX_FRAME + 1))) == [Oversized(MAX_FRAME + 1)]
    for _ in range(64):
        assert list(frames.feed(b"x" * (MAX_FRAME // 64))) == []
    assert list(frames.feed(b"xContent-Length: 2\r\n\r\n{}")) == [b"{}"]


@given(st.lists(st.binary(max_size=50), max_size=5), st.lists(st.integers(1, 40), max_size=20))
def test_it_does_not_matter_how_the_stream_is_cut(sent, sizes):
    stream = b"".join(b"Content-Length: %d\r\n\r\n%b" % (len(body), body) for body in sent)

    assert bodies(stream, sizes) == sent


@given(st.lists(st.from_regex(rb"[^\s]{1,50}", fullmatch=True), max_size=5), st.lists(st.integers(1, 40), max_size=20))
def test_lines_are_the_same_however_the_stream_is_cut(sent, sizes):
    lines, found, stream = Lines(), [], b"\r\n".join(sent) + b"\n\n"
    for size in (*sizes, len(stream)):
        found += lines.feed(stream[:size])
        stream = stream[size:]

    assert found == sent


def test_a_line_that_is_too_long_is_dropped_as_it_comes():
    lines = Lines()

    for _ in range(65):
        assert list(lines.feed(b"x" * (MAX_FRAME // 64))) == []
    assert len(lines._begun) < MAX_FRAME
    assert list(lines.feed(b"\n{}\n")) == [Oversized(65 * (MAX_FRAME // 64)), b"{}"]


async def test_lines_go_both_ways(channel):
    received, sent = [], []
    channel.on_write = sent.append
    channel.feed(b'{"a": 1}\n{"b"')
    channel.feed(b": 2}\n")
    channel.hang_up()
    transport = Transport(channel, Lines(), as_line)
    transport.send(b"[]")

    assert await transport.run(received.append) == "eof"
    await transport.drain(timeout=10)
    assert (received, sent) == ([b'{"a": 1}', b'{"b": 2}'], [b"[]\n"])


async def test_frames_arrive_in_order_and_the_end_after_them(channel):
    received = []
    for number in range(1000):
        channel.feed_frame(b"%d" % number)
    channel.hang_up()

    assert await Transport(channel).run(received.append) == "eof"
    assert received == [b"%d" % number for number in range(1000)]


async def test_a_broken_frame_ends_the_run(channel):
    channel.feed(b"Content-Length: two\r\n\r\n{}")

    assert await Transport(channel).run(print) == "broken frame"


async def test_a_client_that_is_gone_ends_the_run_and_holds_no_output(channel):
    channel.broken = True
    transport = Transport(channel)
    transport.send(b"{}")

    assert await transport.run(print) == "client gone"
    transport.send(b"{}")
    await transport.drain(timeout=10)
    assert transport.backlog == 0


async def test_the_loop_never_waits_for_a_client_that_does_not_read(channel):
    channel.taking.clear()
    transport = Transport(channel)
    running = asyncio.create_task(transport.run(print))
    for _ in range(100):
        transport.send(b"x" * 100_000)
    await transport.drain(timeout=0.01)
    assert transport.backlog > 9_000_000

    channel.taking.set()
    await transport.drain(timeout=10)
    assert transport.backlog == 0
    running.cancel()


@pytest.fixture(params=["pipe", "socket"])
def held(request):
    """A channel whose client reads only when it is told to, and how it does so: as much as there is."""
    if request.param == "pipe":
        reads, writes = os.pipe()
        yield _Stdio(os.open(os.devnull, os.O_RDONLY), writes, threading.Thread()), partial(os.read, reads)
        os.close(reads)
        os.close(writes)
    else:
        ours, theirs = socket.socketpair()
        with ours, theirs:
            yield SocketChannel(ours), theirs.recv


@pytest.mark.parametrize("size", [10, 5_000, 100_000])
async def test_what_is_taken_at_once_needs_no_thread_and_order_stays(held, size):
    """Before `run` there is no thread: what is there then the loop has written, and never waited for it."""
    channel, read = held
    transport = Transport(channel)
    sent = [framed(b"%d" % number * size) for number in range(100)]
    transport.send(b"0" * 10)
    assert read(2**20) == framed(b"0" * 10)

    for number in range(99):
        transport.send(b"%d" % number * size)
    left = transport.backlog
    found = read(2**20) if size < MOST_OFFERED else b""
    transport.send(b"99" * size)  # there is room again, and others wait before it
    running = asyncio.create_task(transport.run(print))
    while len(found) < sum(map(len, sent)):
        found += await asyncio.to_thread(read, 2**20)
    await transport.drain(timeout=10)

    assert found == b"".join(sent)
    assert (left > 0, transport.backlog) == (size > 10, 0)
    running.cancel()


async def test_a_client_that_is_gone_when_something_is_offered_ends_the_run(channel):
    channel.offer = Mock(side_effect=BrokenPipeError)
    transport = Transport(channel)
    transport.send(b"{}")

    assert await transport.run(print) == "client gone"
    assert transport.backlog == 0


@pytest.mark.parametrize(("size", "most"), [(2, MAX_WAITING), (4 * 2**20, 16)], ids=["by number", "by size"])
async def test_a_flood_waits_at_the_client(channel, size, most):
    """While the loop is busy the reader stops: what it does not read the client cannot send."""
    reads = 0
    too_much = threading.Event()

    def counted(size, read=channel.read):
        nonlocal reads
        reads += 1
        if reads == most + 2:
            too_much.set()
        return read(size)

    channel.read = counted
    for _ in range(most + 20):
        channel.feed_frame(b"x" * size)
    channel.hang_up()
    received = []
    running = asyncio.create_task(Transport(channel).run(received.append))
    await asyncio.sleep(0)

    assert not too_much.wait(timeout=0.3)
    async with asyncio.timeout(10):
        await running
    assert len(received) == most + 20


async def test_a_failing_receiver_does_not_stop_the_frames(channel):
    received = []

    def fail_once(frame):
        received.append(frame)
        if len(received) == 1:
            raise RuntimeError("once")

    asyncio.get_running_loop().set_exception_handler(lambda loop, context: None)
    channel.feed_frame(b"1")
    channel.feed_frame(b"2")
    channel.hang_up()

    assert await Transport(channel).run(fail_once) == "eof"
    assert received == [b"1", b"2"]


ECHO = """
import ctypes, os, subprocess, sys
from odin_lsp.server.transport import stdio_channel
channel = stdio_channel()
{act}
channel.write(channel.read(100))
channel.close()
channel._forwarder.join()
os._exit(0)
"""


def echo(act: str = "", **options) -> subprocess.CompletedProcess[bytes]:
    options = {"input": b"hello", "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.run([sys.executable, "-c", ECHO.format(act=act)], timeout=20, **options)


@pytest.mark.parametrize(
    "act",
    [
        "print('stray')",
        "os.write(1, b'stray')",
        "ctypes.CDLL(None).write(1, b'stray', 5)",
        "os.system('echo stray')",
        "subprocess.run(['echo', 'stray'])",
        "sys.stderr.write('stray')",
    ],
)
def test_whatever_prints_does_not_reach_the_protocol(act):
    done = echo(act)

    assert done.stdout == b"hello"
    assert b"stray" in done.stderr


@pytest.mark.parametrize("act", ["assert sys.stdin.read() == ''", "assert not subprocess.check_output(['cat'])"])
def test_nothing_else_can_read_the_protocol(act):
    assert echo(act).stdout == b"hello"


def test_the_protocols_descriptors_are_not_inherited():
    listing = "subprocess.run(['ls', '-l', '/proc/self/fd'], stdout=2)"

    assert echo(listing).stderr.count(b"pipe:") == 2  # 1 and 2, into the drain; 0 is /dev/null


def test_a_client_that_never_reads_stderr_blocks_nobody(pipe):
    _, writing = pipe
    done = echo("for _ in range(200): print('x' * 10_000, flush=True)", stderr=writing)

    assert (done.stdout, done.returncode) == (b"hello", 0)


def test_a_client_that_stops_reading_stderr_is_served(pipe):
    reading, writing = pipe
    os.close(reading)
    done = echo("print('x', flush=True)", stderr=writing)

    assert (done.stdout, done.returncode) == (b"hello", 0)


def test_a_client_without_stderr_is_served():
    done = echo("print('x', flush=True)", preexec_fn=lambda: os.close(2))

    assert (done.stdout, done.returncode) == (b"hello", 0)


def test_a_pipe_that_does_not_block_is_waited_for(pipe):
    reading, writing = pipe
    os.set_blocking(reading, False)
    late = threading.Timer(0.5, os.write, (writing, b"hello"))
    late.start()

    assert echo(input=None, stdin=reading).stdout == b"hello"


@pytest.fixture
def pipe():
    ends = os.pipe()
    yield ends
    for end in ends:
        with suppress(OSError):
            os.close(end)


def test_tcp_serves_one_client_on_loopback(pipe, monkeypatch):
    reading, writing = pipe
    said = os.fdopen(writing, "w", buffering=1, closefd=False)
    monkeypatch.setattr("sys.stderr", said)
    opened = []
    server = threading.Thread(target=lambda: opened.append(tcp_channel("localhost", 0)))
    server.start()
    announced = os.fdopen(reading, closefd=False).readline()
    address, _, port = announced.removeprefix("listening on ").strip().rpartition(":")

    with socket.create_connection((address, int(port)), timeout=10) as client:
        server.join(timeout=10)
        (channel,) = opened
        client.sendall(b"hello")
        channel.write(channel.read(100))
        assert client.recv(100) == b"hello"
        channel.close()
        assert client.recv(100) == b""
    with pytest.raises(OSError, match="refused"):
        socket.create_connection((address, int(port)), timeout=10)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.0.1", "example.org", ""])
def test_tcp_is_refused_on_any_other_address(host):
    with pytest.raises(ValueError, match="act as you"):
        tcp_channel(host, 0)


async def test_frames_that_come_together_leave_others_their_turn(channel):
    """Each takes as long as a part of work may."""
    all_wait = threading.Event()
    done = []
    frames = [b"{}"] * 9

    def counted(size, read=channel.read):
        if not frames:
            all_wait.set()
        return read(size) if not frames else framed(frames.pop())

    def take(_):
        assert all_wait.wait(10)
        done.append("frame")
        until = time.monotonic() + PART_SECONDS
        while time.monotonic() < until:
            pass

    def beat():
        done.append("turn")
        asyncio.get_running_loop().call_soon(beat)

    channel.read = counted
    channel.hang_up()
    asyncio.get_running_loop().call_soon(beat)

    assert await Transport(channel).run(take) == "eof"
    assert done.count("frame") == 9
    assert "frame frame" not in " ".join(done)
