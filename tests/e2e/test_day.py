"""Days of an editor with Odin, as `nox -s soak` lives them: those that failed once, and the morning of others."""

from itertools import islice

import pytest

from tests.soak.day import drawn, kept, lived
from tests.support.sampling import SEED

ACTS = 30 if SEED else 60
SEEDS = [571611] if SEED else range(6)
"""A sample has one day that is known; others are found by `nox -s soak`, which shortens those that fail."""


@pytest.mark.parametrize("steps", kept(), ids=lambda steps: f"{len(steps)} acts")
async def test_a_day_that_failed_once_does_not_any_more(steps):
    failed = await lived(steps)
    assert failed is None, str(failed)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", SEEDS)
async def test_nothing_breaks_in_the_morning_of_a_day(seed):
    failed = await lived(islice(drawn(seed), ACTS))
    assert failed is None, str(failed)
