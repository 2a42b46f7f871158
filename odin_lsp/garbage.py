"""How often Python looks for what nobody needs any more."""

import gc

OBJECTS = 20_000
"""New ones, between two looks. After every 700, as Python does it, a start takes a tenth longer; without any look, what
imports leave behind stays: 8 MiB."""


def look_seldom() -> None:
    gc.set_threshold(OBJECTS, 10, 10)


def keep_what_is_there() -> None:
    """What is imported stays: to look at it again and again only costs time."""
    gc.freeze()
