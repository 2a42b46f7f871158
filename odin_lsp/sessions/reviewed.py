"""What became of what a turn proposed, file by file."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from odin_lsp.ports import Receipt
from odin_lsp.values import Value


@dataclass(frozen=True, slots=True)
class ReviewedFile(Value):
    """How many hunks are in the file now, as they were proposed or as the user wanted them, and how many are not."""

    uri: str
    accepted: int
    rejected: int


def reviewed_files(receipts: Iterable[Receipt]) -> tuple[ReviewedFile, ...]:
    decided = Counter((it.uri, it.state in ("accepted", "modified")) for it in receipts)
    uris = dict.fromkeys(uri for uri, _ in decided)
    return tuple(ReviewedFile(uri, decided[uri, True], decided[uri, False]) for uri in uris)
