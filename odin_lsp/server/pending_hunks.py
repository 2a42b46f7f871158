"""Accept and Reject at the pending hunks of an editor without a review of its own: quick fixes and code lenses."""

from collections.abc import Iterator, Sequence
from typing import Any

from lsprotocol import types

from odin_lsp.server.host import Client

SOURCE = "Odin"
ACCEPT, REJECT = "odin.review.accept", "odin.review.reject"


def is_hint(problem: types.Diagnostic) -> bool:
    return problem.source == SOURCE and isinstance(problem.code, str)


def quick_fixes(uri: str, hints: Sequence[types.Diagnostic]) -> Iterator[types.CodeAction]:
    """Never preferred: no editor may accept on its own. What is stale decides nothing."""
    for hint in hints:
        yield _fix("Odin: Accept this change", ACCEPT, {"hunkIds": [hint.code]}, [hint])
        yield _fix("Odin: Reject this change", REJECT, {"hunkIds": [hint.code]}, [hint])
    if hints:
        yield _fix("Odin: Accept all changes in this file", ACCEPT, {"uri": uri}, hints)


def _fix(title: str, command: str, argument: dict[str, Any], hints: Sequence[types.Diagnostic]) -> types.CodeAction:
    return types.CodeAction(
        title,
        kind=types.CodeActionKind.QuickFix,
        diagnostics=hints,
        command=types.Command(title, command, arguments=[argument]),
    )


def lenses(server: Client, uri: str) -> Iterator[types.CodeLens]:
    hints = server.editor.hints
    pending = list(hints.pending(uri))
    for index, (file, hunk) in enumerate(pending):
        place = hints.place(file, hunk)
        above = types.Range(place.start, place.start)
        yield _lens(above, "Odin: Accept", ACCEPT, {"hunkIds": [hunk.id]})
        yield _lens(above, "Odin: Reject", REJECT, {"hunkIds": [hunk.id]})
        if index == 0 and len(pending) > 1:
            yield _lens(above, "Odin: Accept all in this file", ACCEPT, {"uri": uri})


def _lens(place: types.Range, title: str, command: str, argument: dict[str, Any]) -> types.CodeLens:
    return types.CodeLens(place, command=types.Command(title, command, arguments=[argument]))
