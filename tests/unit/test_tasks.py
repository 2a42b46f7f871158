"""Tasks that nobody waits for: what goes wrong in one is told, and what should go on goes on."""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE

import pytest

from odin_lsp.tasks import Tasks, end_process, run_to_end


@pytest.fixture
def pauses():
    return []


@pytest.fixture
async def tasks(pauses):
    async def pause(seconds):
        pauses.append(seconds)

    tasks = Tasks(pause)
    yield tasks
    await tasks.close()


async def test_a_task_that_fails_is_begun_again_after_longer_and_longer_pauses(tasks, pauses, caplog):
    faults = [OSError("first"), ValueError("second"), ExceptionGroup("third", [KeyError()])]

    async def work():
        if faults:
            raise faults.pop(0)

    await tasks.keep(work, "the watcher")

    assert pauses == [0.1, 0.2, 0.4]
    assert caplog.text.count("the watcher failed") == 3
    assert "second" in caplog.text


async def test_a_fault_of_a_task_that_is_not_begun_again_is_told(tasks, caplog):
    async def reload():
        raise ValueError("the reason")

    await asyncio.wait([tasks.begin(reload())])

    assert "reload failed" in caplog.text
    assert "the reason" in caplog.text


async def test_no_task_outlives_its_owner(caplog):
    tasks = Tasks()
    endless = [tasks.begin(asyncio.Event().wait()), tasks.keep(asyncio.Event().wait, "waiting")]

    await tasks.close()

    assert all(task.cancelled() for task in endless)
    assert caplog.text == ""


@pytest.mark.parametrize("steps", range(7))
def test_it_ends_while_a_program_is_being_started(steps):
    async def start():
        process = await asyncio.create_subprocess_exec("true", stdout=-1, stderr=-1)
        try:
            await process.communicate()
        finally:
            await process.wait()

    async def work():
        starting = asyncio.create_task(start())
        for _ in range(steps):
            await asyncio.sleep(0)
        return starting

    assert run_to_end(work()).done()


async def test_a_process_ends_though_nobody_reads_what_it_says(monkeypatch):
    monkeypatch.setattr("odin_lsp.tasks.FAREWELL", 600)
    says = "import os\nwhile True: os.write(1, bytes(65536))"
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", says, stdout=PIPE, limit=1)
    await process.stdout.readexactly(1)

    await asyncio.wait_for(end_process(process), 10)

    assert process.returncode == -signal.SIGKILL


async def test_what_a_process_has_left_behind_is_not_waited_for(monkeypatch):
    monkeypatch.setattr("odin_lsp.tasks.FAREWELL", 0.2)
    says = "import subprocess, time\np = subprocess.Popen(['sleep', '600'])\nprint(p.pid, flush=True)\ntime.sleep(600)"
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", says, stdout=PIPE)
    left_behind = int(await process.stdout.readline())
    try:
        await asyncio.wait_for(end_process(process), 10)
    finally:
        os.kill(left_behind, signal.SIGKILL)

    assert await process.wait() == -signal.SIGKILL
