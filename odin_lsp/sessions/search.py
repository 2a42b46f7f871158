"""Find a session by what was asked or answered in it, by helpers too."""

from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path

from odin_lsp.errors import SessionError
from odin_lsp.sessions import listing, reader
from odin_lsp.sessions.listing import SessionSummary
from odin_lsp.sessions.store import open_log
from odin_lsp.sessions.titles import cleaned
from odin_lsp.values import is_object

MAX_BYTES = 1024 * 1024 * 1024
"""Of all logs together, the newest first."""
AROUND = 60


def search(folder: Path, query: str, own: Collection[str] = ()) -> Iterator[SessionSummary]:
    """The newest sessions first, each with the words around its last hit. Upper and lower case are the same."""
    wanted = query.casefold()
    left = MAX_BYTES
    for path in listing.logs(folder):
        try:
            left -= path.stat().st_size
            excerpt = _excerpt(path, wanted) if left >= 0 else None
            if excerpt is not None:
                yield replace(listing.summary(folder, path.stem, own), excerpt=excerpt)
        except (OSError, SessionError):
            continue


def _excerpt(path: Path, wanted: str) -> str | None:
    found: str | None = None
    with open_log(path) as file:
        for record in reader.every(file, "session", "title", "turn", "resumed", "subagent"):
            for text in _texts(record):
                at = text.casefold().find(wanted)
                if at >= 0:
                    found = cleaned(text[max(0, at - AROUND) : at + len(wanted) + AROUND], 2 * AROUND + len(wanted))
    return found


def _texts(record: reader.Record) -> Iterator[str]:
    turn = record.get("turn")
    said = (turn.get("body"), turn.get("answerSummary")) if is_object(turn) else ()
    helper = record.get("subagent")
    found = (helper.get("description"), helper.get("summary")) if is_object(helper) else ()
    yield from (text for text in (record.get("title"), *said, *found) if isinstance(text, str))
