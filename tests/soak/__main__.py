"""`python -m tests.soak [MINUTES] [--seed N]`: a day of an editor with Odin, of so many minutes, and what breaks in it.

`--acts` lives these again, as a failure has printed them."""

import argparse
import asyncio
import sys
import time
from collections.abc import Iterator
from random import SystemRandom
from tempfile import NamedTemporaryFile

import tests.conftest  # noqa: F401 - no key, no settings, no network but loopback
from tests.soak.day import Step, drawn, lived, shortened
from tests.soak.invariants import look
from tests.soak.world import World
from tests.support import held_loop

SHORTENING = 180
"""Seconds."""
TOLD_EVERY = 100


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("minutes", nargs="?", type=float, default=5.0)
    parser.add_argument("--seed", type=int, default=SystemRandom().randrange(10**6))
    parser.add_argument("--acts", nargs="+", type=Step.read)
    given = parser.parse_args()
    until = time.monotonic() + given.minutes * 60
    sys.stdout.write(f"seed {given.seed}\n")
    held_loop.ask()

    def until_evening() -> Iterator[Step]:
        for step in drawn(given.seed):
            if time.monotonic() > until:
                return
            yield step

    failure = asyncio.run(lived(given.acts or until_evening(), _tell))
    if failure is None:
        sys.stdout.write("nothing broke\n")
        return 0
    with NamedTemporaryFile("w", prefix="odin-diary-", suffix=".txt", encoding="utf-8", delete=False) as diary:
        diary.write("\n".join(failure.diary))
    sys.stdout.write(f"seed {given.seed}: {failure}\nwhat happened is in {diary.name}\n")
    sys.stdout.flush()
    if not given.acts:
        sys.stdout.write(f"made shorter:\n{asyncio.run(shortened(failure, SHORTENING))}\n")
    return 1


def _tell(number: int, world: World) -> None:
    if number % TOLD_EVERY == 0:
        now = look(world)
        held = f"{now.memory:.0f} MiB, {now.descriptors} descriptors, {len(now.processes)} processes of its own"
        sys.stdout.write(f"{number:6} acts, {world.lives:3} lives so far; it holds {held}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
