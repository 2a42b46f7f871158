"""A program that prints the key: what is sent with it, when it is asked again, and what is said where it fails."""

import asyncio
import sys
from pathlib import Path

import pytest

from odin_lsp.agent.turn import UserMessage
from odin_lsp.config import Config
from odin_lsp.errors import KeyRejected
from odin_lsp.models import providers
from odin_lsp.models.base import Attempt, Reply
from odin_lsp.models.key_helper import LASTS, KeyHelper, KeyHelpers
from odin_lsp.models.providers import candidates
from odin_lsp.models.resilience import KeyPool, ResilientModel
from odin_lsp.redaction import redacted, without_keys
from odin_lsp.terminal.editor import TerminalEditor
from tests.support.project import core_of, take
from tests.support.wire import DIALECTS, HELLO, KEY, Answer

PRINTED = "helpers-key-{}"


class Program:
    """Prints `helpers-key-1`, `helpers-key-2` and so on; its runs are counted."""

    def __init__(self, folder):
        self._runs = folder / "runs"
        self._file = folder / "print_key.py"
        self.does(f"print({PRINTED!r}.format(runs))")
        self.command = [sys.executable, str(self._file)]

    def does(self, code):
        self._file.write_text(
            f"import pathlib, sys, time\nfile = pathlib.Path({str(self._runs)!r})\n"
            "file.write_text(file.read_text() + 'x' if file.exists() else 'x')\n"
            f"runs = len(file.read_text())\n{code}\n"
        )

    @property
    def runs(self):
        return len(self._runs.read_text()) if self._runs.exists() else 0


@pytest.fixture
def program(tmp_path):
    return Program(tmp_path)


@pytest.fixture
async def by_helper(dialect, program, monkeypatch):
    """A model whose key the program prints, as the settings have it."""
    opened = []

    async def by_helper(keep_variable=False, helpers=None):
        if not keep_variable:
            monkeypatch.delenv(dialect.key_variable)
        config = Config.model_validate({"keyHelpers": {dialect.provider: program.command}})
        found = candidates(dialect.ref, config, {}, helpers or KeyHelpers())
        opened.append(
            ResilientModel(
                [found],
                lambda it: providers.connect(it, config),
                retries=config.retries,
                idle=30,
                pool=KeyPool(),
                proxied=lambda _: False,
            )
        )
        return opened[-1]

    yield by_helper
    for it in opened:
        await it.aclose()


def key_sent(dialect, sent):
    name, form = dialect.key_header
    return sent.headers[name].removeprefix(form.split(KEY)[0] if KEY in form else "").removeprefix("Bearer ")


def refused(dialect, words="no"):
    return Answer([dialect.error(401, words)], 401, {"content-type": "application/json"}, framing="length")


def is_running(pid):
    """Not one that has ended and waits to be told of."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def helper(*command, path="/usr/bin:/bin", **more):
    return KeyHelper("anthropic", command, lambda: path, **more)


async def test_the_key_is_asked_for_at_the_first_request_and_kept(dialect, by_helper, program, wire, ask):
    model = await by_helper()
    assert program.runs == 0
    for _ in range(2):
        assert isinstance((await ask(model, Answer([dialect.hello])))[-1], Reply)
    assert [key_sent(dialect, it) for it in wire.sent] == [PRINTED.format(1)] * 2
    assert program.runs == 1


async def test_a_key_that_is_refused_is_asked_for_again_once(dialect, by_helper, program, wire, ask):
    model = await by_helper()
    assert isinstance((await ask(model, refused(dialect), Answer([dialect.hello])))[-1], Reply)
    assert [key_sent(dialect, it) for it in wire.sent] == [PRINTED.format(1), PRINTED.format(2)]

    wire.play(refused(dialect, PRINTED.format(2)), refused(dialect, PRINTED.format(3)))
    with pytest.raises(KeyRejected, match=f"keyHelpers.{dialect.provider}") as caught:
        await ask(model)
    assert program.runs == 3
    assert "helpers-key" not in str(caught.value)


async def test_a_program_that_has_no_other_key_is_not_followed_by_another_request(
    dialect, by_helper, program, wire, ask
):
    program.does("print('always-the-same')")
    with pytest.raises(KeyRejected, match="does not accept the key"):
        await ask(await by_helper(), refused(dialect))
    assert (len(wire.sent), program.runs) == (1, 2)


async def test_requests_that_are_refused_together_ask_once(dialect, by_helper, program, wire):
    model = await by_helper()
    wire.play(*[refused(dialect)] * 3, *[Answer([dialect.hello])] * 3)
    wire.may_answer.clear()

    async def turn():
        return [it async for it in model.stream(HELLO)][-1]

    turns = [asyncio.create_task(turn()) for _ in range(3)]
    while len(wire.sent) < 3:
        await asyncio.sleep(0)
    wire.may_answer.set()
    assert all(isinstance(it, Reply) for it in await asyncio.gather(*turns))
    assert [key_sent(dialect, it) for it in wire.sent] == [PRINTED.format(1)] * 3 + [PRINTED.format(2)] * 3
    assert program.runs == 2


async def test_a_key_that_is_set_goes_before_the_program(dialect, by_helper, program, wire, ask):
    model = await by_helper(keep_variable=True)
    await ask(model, Answer([dialect.hello]))
    assert (key_sent(dialect, wire.sent[0]), program.runs) == (KEY, 0)

    events = await ask(model, refused(dialect), Answer([dialect.hello]))
    assert [it.activity for it in events if isinstance(it, Attempt)] == ["retrying_key"]
    assert (key_sent(dialect, wire.sent[-1]), program.runs) == (PRINTED.format(1), 1)


async def test_after_a_while_the_program_is_asked_again(program):
    now = 1000.0
    found = helper(*program.command, clock=lambda: now)
    assert await found.current() == PRINTED.format(1)
    now += LASTS - 1
    assert await found.current() == PRINTED.format(1)
    now += 1
    assert await found.current() == PRINTED.format(2)


async def test_what_it_prints_is_a_secret_everywhere(program):
    key = await helper(*program.command).current()
    assert key not in redacted(f"it is {key}.")
    assert key not in without_keys(f"it is {key}.")


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (
            "sys.exit('password=hunter22 is wrong, sign in')",
            r"failed with exit code 1 \(\[hidden\] is wrong, sign in\)",
        ),
        ("sys.exit(3)", "failed with exit code 3; run it in a terminal"),
        ("", "printed nothing"),
        ("print('  ')", "printed nothing"),
        ("print('a-key-0123')\nprint('and more')", "printed more than one line; have it print the key alone"),
        ("print('two words')", "printed something that is no key"),
        ("print('x' * 100_000)", "printed something that is no key"),
        ("print('gr\\u00fc\\u00df')", "printed something that is no key"),
    ],
)
async def test_what_fails_is_one_sentence_with_what_to_do(program, code, words):
    program.does(code)
    with pytest.raises(KeyRejected, match=words) as caught:
        await helper(*program.command).current()
    assert "`keyHelpers.anthropic`" in str(caught.value)
    assert "hunter22" not in str(caught.value)


async def test_a_program_that_does_not_end_is_ended(program):
    program.does("time.sleep(600)")
    with pytest.raises(KeyRejected, match=r"has not ended within 0\.1 seconds; run it in a terminal"):
        await helper(*program.command, seconds=0.1).current()


async def test_whoever_waits_no_more_ends_it_with_all_that_it_has_started(program, tmp_path):
    told = tmp_path / "pid"
    program.does(
        "import os, subprocess\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"pathlib.Path({str(tmp_path / 'part')!r}).write_text(str(child.pid))\n"
        f"os.rename({str(tmp_path / 'part')!r}, {str(told)!r})\n"
        "time.sleep(600)"
    )
    asking = asyncio.create_task(helper(*program.command).current())
    async with asyncio.timeout(60):
        while not told.exists():
            await asyncio.sleep(0.01)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        while is_running(int(told.read_text())):
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("name", ["no-such-program-here", "/nowhere/print-key", "./print-key", "bin/print-key"])
async def test_a_program_that_is_missing_is_named(name, tmp_path, monkeypatch):
    """A path that begins nowhere is never looked for where Odin happens to be."""
    (tmp_path / "bin").mkdir()
    for file in (tmp_path / "print-key", tmp_path / "bin" / "print-key"):
        file.write_text("#!/bin/sh\necho stolen-key-0123\n")
        file.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(KeyRejected, match=f"{name} .*cannot be found; write its absolute path"):
        await helper(name).current()


async def test_no_program_of_the_workspace_is_run(tmp_path, monkeypatch, wire, kit):
    for folder, key in (("ws/bin", "theirs-0123"), ("mine", "mine-0123")):
        (tmp_path / folder).mkdir(parents=True)
        file = tmp_path / folder / "print-key"
        file.write_text(f"#!/bin/sh\necho {key}\n")
        file.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'ws' / 'bin'}:{tmp_path / 'mine'}:/usr/bin:/bin")
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    told = {"model": "anthropic/claude-sonnet-5-5", "titles": False, "keyHelpers": {"anthropic": ["print-key"]}}
    core = core_of(tmp_path / "ws", TerminalEditor("yes"), Config.model_validate(told))
    wire.play(kit.Answer([DIALECTS[0].hello]))
    try:
        outcome = await take(core, UserMessage(turn_id="one", text="go", mode="ask_mode"))
    finally:
        await core.close()
    assert outcome.reason == "end_turn"
    assert wire.sent[0].headers["authorization"] == "Bearer mine-0123"


async def test_no_shell_reads_it_and_it_runs_at_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert await helper("echo", "$HOME;id").current() == "$HOME;id"
    assert await helper("sh", "-c", "pwd").current() == str(tmp_path)
