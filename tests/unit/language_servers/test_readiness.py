"""Whether an answer may be all there is: as each server says it in its own way."""

import pytest

from odin_lsp.language_servers import readiness
from odin_lsp.language_servers.readiness import Readiness

SOON = 0.05


def progress(token, kind):
    return "$/progress", {"token": token, "value": {"kind": kind}}


def log(message):
    return "window/logMessage", {"type": 3, "message": message}


def status(quiescent):
    return "experimental/serverStatus", {"health": "ok", "quiescent": quiescent}


@pytest.mark.parametrize(
    ("signal", "told", "is_ready"),
    [
        ("at once", [], True),
        ("never", [], False),
        ("found files", [], False),
        ("found files", [log("Auto-excluding **/node_modules")], False),
        ("found files", [log("Found 6 source files")], True),
        ("found files", [log("Found 1 source file")], True),
        ("found files", [log("No source files found.")], True),
        ("found files", [log("Found 6 source files"), log("reloading")], True),
        (
            "found files",
            [log("12:00:00.1 INFO BackgroundAnalysis: Glob resolved with 6 files after 0.5 seconds")],
            False,
        ),
        ("found files", [log("12:00:00.9 INFO BackgroundAnalysis: Completed after 0.843 seconds.")], True),
        ("found files", [progress(1, "begin"), progress(1, "end")], False),
        ("found files", [("window/logMessage", None), ("$/progress", []), ("$/progress", {"value": 3})], False),
        ("says so", [status(quiescent=False)], False),
        ("says so", [status(quiescent=True)], True),
        ("says so", [status(quiescent=True), status(quiescent=False)], False),
        ("unknown", [], False),
        ("unknown", [progress(1, "begin"), progress(1, "end")], True),
        ("progress", [], False),
        ("progress", [progress(1, "begin")], False),
        ("progress", [progress(1, "begin"), progress(2, "begin"), progress(1, "end")], False),
        ("progress", [progress(1, "begin"), progress(1, "report"), progress(1, "end")], True),
    ],
)
async def test_each_signal_counts_for_those_who_give_it(signal, told, is_ready):
    ready = Readiness(signal)
    for method, params in told:
        ready.told(method, params)

    assert await ready.by(readiness.time.monotonic() + readiness.QUIET_SECONDS + SOON) is is_ready


async def test_nobody_waits_for_one_that_never_knows_all():
    began = readiness.time.monotonic()

    assert not await Readiness("never").by(began + 60)

    assert readiness.time.monotonic() - began < 1


async def test_one_that_says_nothing_is_not_waited_for_again():
    ready = Readiness("unknown")
    ready.shown()
    began = readiness.time.monotonic()
    assert not await ready.by(began + 60)
    waited = readiness.time.monotonic() - began

    assert not await ready.by(began + 120)

    assert readiness.GRACE_SECONDS - SOON < waited < 2 * readiness.GRACE_SECONDS
