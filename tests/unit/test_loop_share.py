"""Work that never waits for anything lets others have their turn."""

import asyncio

from odin_lsp.loop_share import LoopShare


async def test_others_have_their_turn_in_work_that_never_waits():
    heard = asyncio.Event()

    async def work():
        share = LoopShare()
        while not heard.is_set():
            await share.pass_on()

    working = asyncio.create_task(work())
    asyncio.get_running_loop().call_soon(asyncio.get_running_loop().call_soon, heard.set)
    async with asyncio.timeout(30):
        await working


async def test_work_that_takes_no_time_is_not_interrupted(monkeypatch):
    monkeypatch.setattr("odin_lsp.loop_share.PART_SECONDS", 3600)
    turns = 0

    async def other():
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(other())
    share = LoopShare()
    for _ in range(1000):
        await share.pass_on()
    assert turns == 0
    task.cancel()
