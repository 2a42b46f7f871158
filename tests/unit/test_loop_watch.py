"""What holds an event loop is told with its stack; what only keeps the machine busy is not."""

import asyncio
import fcntl
import glob
import logging
import os
import queue
import select
import shutil
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import pytest

from odin_lsp import loop_watch, waiting_calls
from odin_lsp.logs import ODIN, Logs
from odin_lsp.loop_watch import EXCUSED, LIMIT, REPORTS, Excuse, LoopWatch, watch_if_wanted
from odin_lsp.tasks import run_to_end

LONGER = 1.5 * LIMIT


@pytest.fixture(autouse=True)
def ordinary(monkeypatch):
    """So is the processor, whatever runs beside."""
    monkeypatch.setattr(loop_watch, "ORDINARY", 3600)


def work(seconds, clock=time.thread_time):
    """Use so much of the processor in this thread."""
    until = clock() + seconds
    while clock() < until:
        pass


@contextmanager
def watched():
    reports = []
    watch = LoopWatch(reports.append)
    try:
        yield reports
    finally:
        watch.stop()


async def beats(reports, count=3):
    """Until the loop has been on time so many times."""
    for _ in range(count):
        await asyncio.sleep(loop_watch.PAUSE)


def threads():
    return {it for it in threading.enumerate() if it.name == "odin loop watch"}


async def test_what_uses_the_loop_is_named_while_it_does_and_measured_in_the_end():
    with watched() as reports:
        await asyncio.sleep(0)
        until = time.monotonic() + 60
        while not reports and time.monotonic() < until:
            work(LIMIT)
        during = list(reports)
        await beats(reports)

    assert [it.stack[-1].function for it in during] == ["work"]
    assert "so far" in during[0].what
    assert [it.what.endswith("in all") for it in reports] == [False, True]
    assert (
        during[0].stack[0].function == test_what_uses_the_loop_is_named_while_it_does_and_measured_in_the_end.__name__
    )


async def test_what_the_watching_thread_did_not_see_in_time_is_told_by_the_beat(monkeypatch):
    monkeypatch.setattr(LoopWatch, "_look", lambda self: None)
    with watched() as reports:
        work(LONGER)
        await beats(reports)

    [report] = reports
    assert "ms of processor time" in report.what
    assert report.stack == ()


@pytest.mark.parametrize("is_seen", [True, False])
async def test_a_slow_processor_may_take_longer(monkeypatch, is_seen):
    monkeypatch.setattr(loop_watch, "ORDINARY", 1e-9)
    if not is_seen:
        monkeypatch.setattr(LoopWatch, "_look", lambda self: None)
    with watched() as reports:
        work(LONGER)
        await beats(reports)

    assert reports == []


async def test_a_loop_that_waits_is_not_held():
    with watched() as reports:
        await asyncio.sleep(3 * LIMIT)
        await asyncio.to_thread(time.sleep, LIMIT)

    assert reports == []


async def test_time_that_passes_without_the_loops_thread_is_not_counted():
    with watched() as reports:
        time.sleep(3 * LIMIT)  # noqa: ASYNC251 - as if the machine were busy with something else
        await beats(reports)

    assert [it.what for it in reports] == ["time.sleep"]


async def test_another_thread_that_works_does_not_hold_the_loop():
    with watched() as reports:
        await asyncio.gather(*(asyncio.to_thread(work, LONGER) for _ in range(2)))

    assert reports == []


async def test_what_is_work_for_long_but_in_small_parts_does_not_hold_the_loop():
    with watched() as reports:
        for _ in range(20):
            work(LIMIT / 10)
            await asyncio.sleep(loop_watch.PAUSE)

    assert reports == []


def started():
    return subprocess.Popen([sys.executable, "-c", "input()"], stdin=-1)


def end(process):
    process.stdin.close()
    process.wait()


def waits_for_program(wait):
    process = started()
    threading.Timer(0.05, process.stdin.close).start()
    wait(process)
    process.returncode = 0


def lock(path):
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)


def lock_part(path):
    with path.open("w") as file:
        fcntl.lockf(file, fcntl.LOCK_EX)


def large(path):
    path.write_bytes(b"\0" * (waiting_calls.LARGE_FILE + 1))
    return path


def connected():
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()):
        pass


def emptied():
    with pytest.raises(queue.Empty):
        queue.Queue().get(timeout=0.001)


def joined():
    thread = threading.Thread(target=time.sleep, args=(0.05,))
    thread.start()
    thread.join()


CALLS = {
    "subprocess.Popen": lambda _: end(started()),
    "os.system": lambda _: os.system("true"),
    "time.sleep": lambda _: time.sleep(0.001),
    "fcntl.flock": lambda path: lock(path),
    "fcntl.lockf": lambda path: lock_part(path),
    "socket.getaddrinfo": lambda _: socket.getaddrinfo("127.0.0.1", 1),
    "socket.gethostbyname": lambda _: socket.gethostbyname("127.0.0.1"),
    "socket.connect": lambda _: connected(),
    "os.walk": lambda path: list(os.walk(path.parent)),
    "glob.glob": lambda path: glob.glob(str(path)),  # noqa: PTH207
    "shutil.rmtree": lambda path: shutil.rmtree(path, ignore_errors=True),
    "shutil.copytree": lambda path: shutil.copytree(path.parent, path / "copy"),
    "open": lambda path: large(path).read_bytes(),
    "threading.Condition.wait": lambda _: emptied(),
    "threading.Thread.join": lambda _: joined(),
    "subprocess.Popen.wait": lambda _: waits_for_program(subprocess.Popen.wait),
    "os.waitpid": lambda _: waits_for_program(lambda process: os.waitpid(process.pid, 0)),
    "select.select": lambda _: select.select([], [], [], 0.001),
}


@pytest.mark.parametrize("name", CALLS)
async def test_each_call_that_waits_is_told_with_who_makes_it(name, tmp_path):
    with watched() as reports:
        await asyncio.sleep(0)
        CALLS[name](tmp_path / "file")

    told = [it for it in reports if it.what.partition("(")[0] == name]
    assert told
    assert all(it.stack[0].function == "test_each_call_that_waits_is_told_with_who_makes_it" for it in told)


async def test_what_does_not_wait_is_not_told(tmp_path):
    with watched() as reports:
        with (tmp_path / "lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            fcntl.flock(file, fcntl.LOCK_UN)
        (tmp_path / "small").write_bytes(b"\0")
        (tmp_path / "small").read_bytes()
        select.select([], [], [], 0)
        threading.Event().is_set()
        await asyncio.to_thread(time.sleep, 0.01)
        await asyncio.get_running_loop().getaddrinfo("127.0.0.1", 1)

    assert reports == []


def test_what_is_called_beside_a_loop_is_not_told():
    reports = []

    async def main():
        LoopWatch(reports.append)

    with asyncio.Runner() as runner:
        runner.run(main())
        time.sleep(0.001)
        runner.run(asyncio.sleep(0))
        next(iter(loop_watch._watches.values())).stop()

    assert reports == []


async def test_an_exception_of_the_list_is_not_told(monkeypatch):
    def excused():
        time.sleep(0.001)
        work(LONGER)

    here = f"{__name__}.{excused.__qualname__}"
    excuses = (Excuse("time.sleep", here, "a test"), Excuse(loop_watch.PROCESSOR, here, "a test"))
    monkeypatch.setattr(loop_watch, "EXCUSED", excuses)

    with watched() as reports:
        excused()

    assert reports == []


async def test_programs_are_started_as_asyncio_does_it():
    with watched() as reports:
        process = await asyncio.create_subprocess_exec(sys.executable, "-c", "")
        await process.wait()

    assert reports == []


def test_there_are_at_most_five_exceptions_each_with_a_reason():
    assert len(EXCUSED) <= 5
    assert all(it.reason for it in EXCUSED)


async def test_without_debug_logging_or_the_variable_there_is_no_thread_and_nothing_is_wrapped(monkeypatch):
    monkeypatch.delenv(REPORTS, raising=False)
    originals = [getattr(owner, name) for owner, name, _ in waiting_calls.WRAPPED]

    before = threads()
    watch_if_wanted()
    assert not threads() - before
    with watched():
        assert threads() - before
        assert [getattr(owner, name) for owner, name, _ in waiting_calls.WRAPPED] != originals

    assert [getattr(owner, name) for owner, name, _ in waiting_calls.WRAPPED] == originals


async def test_debug_logging_tells_and_watches_as_long_as_it_is_on(monkeypatch, caplog):
    monkeypatch.delenv(REPORTS, raising=False)
    monkeypatch.setattr(ODIN, "level", logging.INFO)
    with caplog.at_level(logging.DEBUG, "odin.loop"):
        watch_if_wanted()
        work(LONGER)
        await beats(caplog)
        [watch] = loop_watch._watches.values()
    watch_if_wanted()

    assert any("the event loop was held" in it and ":" in it for it in caplog.messages)
    assert watch._stopped.is_set()
    assert not loop_watch._watches


def test_the_variable_names_a_file_that_reports_are_added_to(monkeypatch, tmp_path):
    monkeypatch.setenv(REPORTS, str(tmp_path / "reports"))

    async def main():
        time.sleep(0.001)  # noqa: ASYNC251

    run_to_end(main())
    run_to_end(main())

    text = (tmp_path / "reports").read_text()
    assert text.count(f"process {os.getpid()}") == 2
    assert text.count("held: time.sleep") == 2
    assert text.count(".main\n") == 2


async def test_what_is_logged_is_watched_from_the_moment_on_that_the_settings_say_so(monkeypatch):
    monkeypatch.delenv(REPORTS, raising=False)
    root = logging.getLogger()
    monkeypatch.setattr(root, "handlers", list(root.handlers))
    monkeypatch.setattr(ODIN, "level", ODIN.level)
    logs = Logs("warning")
    logs.begin()

    before = threads()
    logs.configure("debug")
    assert len(threads() - before) == 1
    logs.configure("info")
    assert not loop_watch._watches
