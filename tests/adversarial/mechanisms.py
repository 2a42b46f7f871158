"""The sandboxes that can be tried here. Bubblewrap may be fetched where the system has none."""

import os
from functools import cache

from odin_lsp.permissions import bubblewrap, sandbox
from odin_lsp.permissions.sandbox import Mechanism
from tests.editors.debian import MAY_FETCH, Program, fetched

BUBBLEWRAP = Program("trixie", "bubblewrap", "usr/bin/bwrap")
OF_THE_SYSTEM = bubblewrap.find()


@cache
def tried() -> frozenset[Mechanism]:
    """All that work. Where nothing is to hold commands, none are tried."""
    works = sandbox.mechanisms()
    if not works or OF_THE_SYSTEM or not MAY_FETCH:
        return works
    program = str(fetched(BUBBLEWRAP))
    if bubblewrap.works(program):
        bubblewrap.find = lambda: program
        return works | {"bubblewrap"}
    return works


def may_try(mechanism: Mechanism, who: str) -> bool:
    """What is fetched is in the home of whoever fetched it, where nobody else gets."""
    return mechanism != "bubblewrap" or OF_THE_SYSTEM is not None or (who == "root") is (os.getuid() == 0)
