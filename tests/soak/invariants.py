"""What holds after each act of a day, whatever it was."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tests.bench.client import resident
from tests.soak.editor import offsets_of, path_at
from tests.soak.world import Broken, World
from tests.support import held_loop

DESCRIPTORS, PROCESSES = 16, 2
"""More than at the first look at a process: connections to the provider, logs of sessions that are open."""
MEMORY = 45
"""MiB: with the first call of an MCP server their SDK is loaded, which takes 28."""


@dataclass(frozen=True)
class Look:
    """What a process holds when nothing goes on."""

    memory: float
    descriptors: int
    processes: tuple[str, ...]
    """What each was started with."""


async def every_request_is_answered_once(world: World) -> None:
    for peer in (world.peer, *world.guests):
        world.wrong_of(peer)
        if peer.is_gone:
            raise Broken("the server is gone")


async def nothing_unreviewed_has_changed(world: World) -> None:
    editor = world.editor
    if editor.wrong:
        raise Broken("; ".join(editor.wrong))
    for path, text in editor.saved.items():
        now = path.read_bytes().decode()
        if now != text:
            raise Broken(f"{path.name} on disk is not as it was saved: {text!r} → {now!r}")
    known = {*editor.saved, world.root / "ran.txt"}
    if strangers := [it.name for it in world.root.rglob("*") if it.is_file() and it not in known]:
        raise Broken(f"nobody has made {strangers}")
    ran = world.root / "ran.txt"
    lines = ran.read_text().split() if ran.exists() else []
    if not set(lines) <= set(world.ran) or len(lines) != len(set(lines)):
        raise Broken(f"ran {lines}, allowed were {world.ran}")


async def reviews_are_as_the_screen(world: World) -> None:
    """And what was decided is decided."""
    for shown in (await world.command("review.list"))["proposals"]:
        for file in shown["files"]:
            path = path_at(file["uri"])
            for hunk in file["hunks"]:
                state = hunk.get("state", "pending")
                was = world.decided.get(hunk["id"], state)
                if was != state and "superseded" not in (was, state):
                    raise Broken(f"{hunk['id']} was {was}, and is {state}")
                if state != "pending" or file["operation"] != "edit" or path not in world.editor.documents:
                    continue  # what is accepted may be typed over
                start, end = offsets_of(world.editor.text(path), hunk["range"])
                if (found := world.editor.text(path)[start:end]) != hunk["oldText"]:
                    raise Broken(f"{hunk['id']} waits, where {hunk['oldText']!r} is {found!r}")


async def it_has_not_complained(world: World) -> None:
    if (said := world.log.read_text(errors="replace")).count("Traceback"):
        raise Broken(f"it has complained: …{said[said.index('Traceback') :][:3000]}")


async def nothing_has_held_the_loop(_: World) -> None:
    if held := held_loop.taken():
        raise Broken(held)


Invariant = Callable[[World], Awaitable[None]]
INVARIANTS: tuple[Invariant, ...] = (
    every_request_is_answered_once,
    nothing_unreviewed_has_changed,
    reviews_are_as_the_screen,
    it_has_not_complained,
    nothing_has_held_the_loop,
)


def look(world: World) -> Look:
    assert world.process is not None
    pid = world.process.pid
    return Look(resident(pid), len([*Path(f"/proc/{pid}/fd").iterdir()]), tuple(_children(pid)))


def compare(first: Look, now: Look) -> None:
    if now.descriptors > first.descriptors + DESCRIPTORS or len(now.processes) > len(first.processes) + PROCESSES:
        raise Broken(f"it holds more and more: {first} → {now}")
    if now.memory > first.memory + MEMORY:
        raise Broken(f"it grows: {first} → {now}")


def _children(pid: int) -> Iterator[str]:
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            with suppress(OSError):  # it has ended
                yield Path(f"/proc/{child}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")[:200]
