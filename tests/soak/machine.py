"""What may happen on a day: what becomes of the machine, and all acts."""

import asyncio
import errno
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress
from random import Random
from typing import Any

from tests.soak import acts
from tests.soak.acts import decide_on, may_be_refused, play_edit, type_something
from tests.soak.peer import Gone
from tests.soak.world import Broken, World

Act = Callable[[World, Random], Awaitable[None]]
ERRORS = (errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EIO)
HOUR, YEAR = 3600, 31_536_000


async def end_and_start(world: World, chance: Random) -> None:
    """Whatever way it ends, all is as it was before."""
    how = chance.choice(["kill", "leave", "hang up"])
    before = await world.stored() if world.is_idle and not world.is_unsure else None
    await _restart(world, how)
    if before is not None and (after := await world.stored()) != before:
        raise Broken(f"after a {how} it is not as it was: {_difference(before, after)}")
    if world.sessions and chance.random() < 0.7:
        await may_be_refused(world.command("session.resume", sessionId=world.sessions[-1]))


async def _restart(world: World, how: str) -> None:
    if world.control.error or (world.is_unsure and how == "kill"):
        world.decided.clear()
    world.control.set(error=0)
    await world.end(how)
    world.wire.answers.clear()
    await world.start()


def _difference(before: dict[str, Any], after: dict[str, Any]) -> str:
    for session_id, parts in before.items():
        for part, was in parts.items():
            if was != (now := after[session_id][part]):
                if part != "events":
                    return f"{session_id} {part}: {was} → {now}"
                at = next((at for at, (one, two) in enumerate(zip(was, now, strict=False)) if one != two), -1)
                return f"{session_id} events ({len(was)}, {len(now)}) from {at} on: {was[at:][:2]} → {now[at:][:2]}"
    return "sessions"


async def kill_amid(world: World, chance: Random) -> None:
    """While a turn runs, or something is being decided."""
    pending = [it for review in world.editor.reviews.values() for it in review.pending]
    if pending and chance.random() < 0.7:
        doing = asyncio.create_task(_unless_gone(decide_on(world, pending, chance.choice(["accept", "reject"]))))
        for _ in range(chance.randint(0, 30)):
            await asyncio.sleep(0)
    else:
        play_edit(world, chance, [world.root / "a.py"])
        turn_id = world.begin("edit", text="change it")
        doing = world.turns[turn_id].task
        await asyncio.sleep(chance.random() * 0.2)
    await _restart(world, "kill")
    await asyncio.wait([doing])


async def _unless_gone(doing: Awaitable[Any]) -> None:
    with suppress(Gone):
        await doing


async def fail_the_disk(world: World, chance: Random) -> None:
    world.is_unsure = True
    world.control.set(error=chance.choice(ERRORS))


async def mend_the_disk(world: World, chance: Random) -> None:
    """What could not be written is written with the next turn of its session."""
    world.control.set(error=0)
    if world.is_unsure and world.is_idle:
        for session_id in world.sessions:
            world.begin("ask", text="and now?", sessionId=session_id)
            await world.settle()
        world.is_unsure = False


async def jump_in_time(world: World, chance: Random) -> None:
    world.control.set(ahead=chance.choice([-YEAR, -HOUR, 0, HOUR, YEAR]))


async def suspend(world: World, chance: Random) -> None:
    """The lid is closed, and opened in another hour."""
    world.signal(signal.SIGSTOP)
    try:
        if not world.turns:
            world.begin("ask", text="are you there?")
        await type_something(world, chance)
        world.control.set(ahead=world.control.ahead + HOUR)
        await asyncio.sleep(chance.random() * 0.1)
    finally:
        world.signal(signal.SIGCONT)
    await world.settle()


ACTS: dict[str, tuple[Act, int]] = {
    it.__name__: (it, often)
    for it, often in (
        (acts.ask, 8),
        (acts.edit, 14),
        (acts.run_a_command, 3),
        (acts.call_a_server, 2),
        (acts.meet_a_fault, 4),
        (acts.cancel, 3),
        (acts.steer, 1),
        (acts.decide, 20),
        (acts.reopen, 3),
        (acts.undo, 2),
        (type_something, 14),
        (acts.save_or_close, 4),
        (acts.change_on_disk, 2),
        (acts.change_settings, 2),
        (acts.change_folders, 1),
        (acts.change_session, 3),
        (acts.attach, 4),
        (end_and_start, 3),
        (kill_amid, 2),
        (fail_the_disk, 1),
        (mend_the_disk, 4),
        (jump_in_time, 2),
        (suspend, 1),
    )
}
"""And how often each is done."""
