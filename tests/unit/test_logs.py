"""Lines of the log: their level, their component, and nothing secret."""

import io
import logging

import pytest

from odin_lsp.logs import ODIN, Logs

KEY = "sk-ant-api03-abcdefghijklmnop"


@pytest.fixture
def written(monkeypatch):
    """What is written to stderr; the loggers are as before afterwards."""
    stderr = io.StringIO()
    monkeypatch.setattr("sys.stderr", stderr)
    before = {it: (it.level, list(it.handlers)) for it in (logging.getLogger(), ODIN)}
    yield lambda: stderr.getvalue().splitlines()
    for logger, (level, handlers) in before.items():
        logger.setLevel(level)
        logger.handlers[:] = handlers


@pytest.fixture
def logs(written):
    logs = Logs("warning")
    logs.configure(None, ["correct horse"])
    logs.begin()
    return logs


def say(name):
    for level in ("error", "warning", "info", "debug"):
        getattr(logging.getLogger(name), level)("said")


@pytest.mark.parametrize(
    ("level", "told"),
    [(None, 2), ("error", 1), ("warning", 2), ("info", 3), ("debug", 4)],
)
def test_the_level_may_change_at_any_time(logs, written, level, told):
    logs.configure("debug")
    logs.configure(level)

    say("odin.models")

    levels = ["ERROR", "WARNING", "INFO", "DEBUG"][:told]
    assert written() == [f"{it} odin.models: said" for it in levels]


def test_others_log_no_more_than_warnings(logs, written):
    logs.configure("debug")

    say("httpx")

    assert written() == ["ERROR httpx: said", "WARNING httpx: said"]


def test_every_line_has_its_component_and_none_a_secret(logs, written, monkeypatch):
    monkeypatch.setenv("SOME_TOKEN", "battery staple")
    logs.configure(None, ["correct horse"])

    try:
        raise ValueError(f"{KEY}, correct horse,\nbattery staple")
    except ValueError:
        logging.getLogger("odin.agent").exception("it failed with %s", KEY)

    assert len(written()) > 3
    assert {line.partition(": ")[0] for line in written()} == {"ERROR odin.agent"}
    assert not any(it in "\n".join(written()) for it in (KEY, "correct horse", "battery staple"))


def test_whoever_else_listens_has_a_level_of_their_own(logs, written):
    heard = []

    class Listener(logging.Handler):
        def emit(self, record):
            heard.append(record.levelname)

    logs.copy_to(Listener(logging.INFO))

    say("odin.models")

    assert heard == ["ERROR", "WARNING", "INFO"]
    assert len(written()) == 2
