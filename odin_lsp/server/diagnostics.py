"""Diagnostics that are Odin's own: hints of pending hunks, whose code is the hunk's id."""

from lsprotocol import types

SOURCE = "Odin"


def is_hint(problem: types.Diagnostic) -> bool:
    return problem.source == SOURCE and isinstance(problem.code, str)
