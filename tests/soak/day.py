"""A day as a list of acts: drawn by a seed, lived, and made shorter if something broke."""

import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

from tests.soak.invariants import INVARIANTS, Look, compare, look
from tests.soak.machine import ACTS
from tests.soak.world import World, world

FAILED = Path(__file__).with_name("failed.txt")
LOOK_AFTER = 30
"""Acts in one life of the process, until caches are filled."""


@dataclass(frozen=True)
class Step:
    act: str
    number: int
    """What its chance is drawn from."""

    def __str__(self) -> str:
        return f"{self.act}:{self.number}"

    @classmethod
    def read(cls, text: str) -> "Step":
        act, _, number = text.partition(":")
        return cls(act, int(number))


@dataclass(frozen=True)
class Failure:
    steps: tuple[Step, ...]
    """The last one broke it."""
    why: str
    diary: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.why}\nafter {len(self.steps)} acts:\n{' '.join(map(str, self.steps))}"


def drawn(seed: int) -> Iterator[Step]:
    chance = Random(seed)
    names, weights = zip(*((name, often) for name, (_, often) in ACTS.items()), strict=True)
    while True:
        yield Step(chance.choices(names, weights)[0], chance.getrandbits(24))


def kept() -> list[tuple[Step, ...]]:
    """Days that failed once, in as few acts as were found."""
    lines = (line.partition("#")[0].split() for line in FAILED.read_text(encoding="utf-8").splitlines())
    return [tuple(map(Step.read, it)) for it in lines if it]


async def lived(
    steps: Iterable[Step], tell: Callable[[int, World], None] = lambda number, world: None
) -> Failure | None:
    done: list[Step] = []
    diary: list[str] = []
    try:
        async with world() as here:
            diary = here.editor.diary
            looked = _Looks()
            for step in steps:
                done.append(step)
                diary.append(f"{len(done)}: {step}")
                await ACTS[step.act][0](here, Random(step.number))
                await here.settle()
                for invariant in INVARIANTS:
                    await invariant(here)
                looked.at(here)
                tell(len(done), here)
            await _end(here)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is told with the acts that led to it
        why = f"{type(error).__name__}: {error}\n{''.join(traceback.format_tb(error.__traceback__)[-4:])}"
        return Failure(tuple(done), why, tuple(diary))
    return None


async def _end(here: World) -> None:
    """Whoever closes the editor in the evening finds that nothing is left to be answered."""
    here.control.set(error=0)
    while here.editor.reviews:
        for review in [*here.editor.reviews]:
            await here.command("review.reject", proposalId=review)
        await here.settle()
    await here.settle()
    for turn_id in [*here.turns]:
        await here.command("cancel", turnId=turn_id)
    await here.end("leave")


class _Looks:
    """Of one life of the process after another."""

    def __init__(self) -> None:
        self._life = 0
        self._acts = 0
        self._first: Look | None = None

    def at(self, here: World) -> None:
        if here.lives != self._life:
            self._life, self._acts, self._first = here.lives, 0, None
        self._acts += 1
        if self._acts < LOOK_AFTER or here.turns:
            return
        now = look(here)
        if self._first is None:
            self._first = now
        compare(self._first, now)


async def shortened(failure: Failure, seconds: float) -> Failure:
    """The same with fewer acts, as far as it can be found in this time: larger parts are left out first."""
    until = time.monotonic() + seconds
    size = len(failure.steps) // 2
    while size and time.monotonic() < until:
        at = 0
        while at < len(failure.steps) and time.monotonic() < until:
            fewer = failure.steps[:at] + failure.steps[at + size :]
            if (again := await lived(fewer)) is not None:
                failure = again
            else:
                at += size
        size //= 2
    return failure
