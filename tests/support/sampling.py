"""How much is tried of what has more cases than anybody waits for each time: all of it, or a sample.

With `SAMPLE_SEED` set, one of two tests that are marked as thorough is run, and tries one case of a few; others for
each seed, so that in time all are tried: `.ci/run` takes the commit for it. Of the tests of hostile input one of three
is run then, and with the oldest version of an editor one of three files.
`FUZZ_EXAMPLES` is how many examples each property is tried with.
Neither name begins as Odin's own variables do: `tests/conftest.py` forgets those, and the processes that it shares the
tests with would not hear of them.
"""

import os
from collections.abc import Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")
SEED = os.environ.get("SAMPLE_SEED", "")
ONE_OF = 6
IS_FUZZED = "FUZZ_EXAMPLES" in os.environ


def sampled(cases: Sequence[T], one_of: int = ONE_OF) -> Sequence[T]:
    """All of them; or of every few in a row the one that the seed draws."""
    if not SEED:
        return cases
    chance = Random(SEED)
    return [chance.choice(cases[at : at + one_of]) for at in range(0, len(cases), one_of)]


def fewer(number: int) -> int:
    """So many; or as many as a sample has of them."""
    return -(-number // ONE_OF) if SEED else number


EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES") or fewer(200 if os.environ.get("CI") else 100))
"""For each property that does not say otherwise."""
