"""Disks that take their time."""

import os


def never_wait_for_them() -> None:
    """No power fails in a test, and a disk takes milliseconds for each file to be safe; whether it was asked to is
    seen by those who put something else in the place of `fsync`."""
    os.fsync = lambda fd: None
