from odin_lsp.models.base import Received
from odin_lsp.models.line import RECEIPT_SECONDS, Receipt


def test_what_has_come_is_told_at_a_pace_and_in_all():
    now = [0.0]
    receipt = Receipt(lambda: now[0])
    told = []

    for data in ("a" * 10, "ü", "b", "c", "d"):
        now[0] += RECEIPT_SECONDS / 2
        told += receipt.count(data)

    assert told == [Received(12, 2), Received(14, 4)]
    assert receipt.total == Received(15, 5)
